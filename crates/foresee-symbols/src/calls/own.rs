//! Functions of the program itself: which are meant, and the hooks for what is asked of them.

use std::ops::Range;

use foresee_format::{HookKind, MOST_KEPT, Saved, SavedArguments, ValueWord};
use foresee_trace::{FunctionPattern, function_path, nearest, without_result};
use iced_x86::Register;

use super::code::FunctionCode;
use super::fields::{self, FieldOf};
use super::functions::{self, Function, Functions, Part};
use super::hooks::{self, NoHook};
use super::library::{self, AskedLibrary};
use super::places::{self, NoPlace, Place};
use super::program::{PART, Program};
use super::prototypes;
use super::refusal::Refusal;
use super::table::{CALL, LENGTH, NO_RESULT, TableHook, field_words, word, words};
use super::wanted::{CALL_NUMBER, NOT_RECORDED, Parameter, Values, WantedCall};
use crate::debug_info::{Debug, Die};
use crate::demangle::demangled;
use crate::texts::Text;
use crate::types::{self, Scalar};

/// How the names of functions of standard libraries begin, of C++ and of Rust.
const STANDARD: &str = "std::";
/// How names begin of what Rust's library has from others: programs write `std::` for these, and symbols do not.
const REEXPORTED: [&str; 2] = ["alloc::", "core::"];
/// What stands for a parameter that has no name.
const NAMELESS: &str = "?";
/// What stands for the result where its fields are named.
const RETURNED: &str = "return";
/// What a receiver is called.
const RECEIVER: &str = "this";
const RUST_RECEIVER: &str = "self";
/// In the names of symbols: versions of a function that compilers make.
const VERSIONS: [&str; 4] = [".constprop.", ".isra.", ".part.", ".argprom"];

/// Bytes of a word.
const WORD: u8 = 8;
/// Why there is no value, where nothing better can be said.
const UNCLEAR: &str = "is passed in a way that is not understood";

/// A function with all that is asked of it.
pub(super) struct Asked<'f> {
    pub(super) by: &'f str,
    function: &'f Function,
    parameters: Vec<functions::Parameter>,
    /// Of each of them: when it is called.
    is_asked: Vec<bool>,
    /// And when it returns.
    at_return: Vec<bool>,
    /// Its calls are events, whatever is asked of them.
    is_called: bool,
    /// Its returns are.
    returns: bool,
    result: bool,
    fields: Vec<AskedField>,
}

/// A field of an object that a function is called with, or returns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AskedField {
    /// The parameter that points to the object; the result if there is none.
    of: Option<usize>,
    path: String,
    /// Where it is in the object.
    offset: u32,
    scalar: Scalar,
}

/// Notes what is asked of which function.
pub(super) fn ask<'f>(
    wanted: &'f WantedCall,
    debug: &Debug<'_, '_>,
    functions: &'f Functions,
    asked: &mut Vec<Asked<'f>>,
    of_libraries: &mut Vec<AskedLibrary>,
) -> Result<(), Refusal> {
    let mut forms: Vec<Form<'_>> = Vec::new();
    for name in &wanted.functions {
        if !functions.has(name) && library::ask(wanted, name, of_libraries)? {
            continue;
        }
        if let (Some(_), Some(into)) = (prototypes::find(name), functions.only_inlined(name)) {
            return Err(Refusal::InHeader { function: name.clone(), into: into.clone() });
        }
        for function in meant(name, functions)? {
            let known = asked.iter().position(|asked| asked.function.die == function.die);
            let at = known.unwrap_or_else(|| {
                let parameters = function.parameters(debug);
                let nothing = vec![false; parameters.len()];
                let (is_called, returns, result) = (false, false, false);
                asked.push(Asked {
                    by: &wanted.by,
                    function,
                    parameters,
                    is_asked: nothing.clone(),
                    at_return: nothing,
                    is_called,
                    returns,
                    result,
                    fields: Vec::new(),
                });
                asked.len() - 1
            });
            let one = &mut asked[at];
            if !wanted.values.all().is_empty() && function.tells_lines_alone(debug) {
                return Err(Refusal::LinesAlone { function: one.name() });
            }
            match &wanted.values {
                Values::Returned(values) => {
                    one.returns = true;
                    for value in values {
                        if is_of_result(value) {
                            one.result = true;
                            one.ask_field(debug, value)?;
                        } else {
                            let at = one.find(value)?;
                            one.at_return[at] = true;
                        }
                    }
                }
                Values::Arguments(parameters) => {
                    one.is_called = true;
                    for parameter in parameters {
                        let at = one.find(parameter)?;
                        one.is_asked[at] = true;
                        one.ask_field(debug, parameter)?;
                    }
                }
            }
            for (parameter, how) in wanted.values.all().iter().zip(&wanted.uses) {
                if let Some(scalar) = one.scalar(debug, parameter)? {
                    how.check(scalar, &one.name(), parameter)?;
                    let new = Form { parameter, function: &function.name, is_text: scalar.text.is_some() };
                    new.check(&forms)?;
                    forms.push(new);
                }
            }
        }
    }
    Ok(())
}

/// What a value is that several functions have for one event.
struct Form<'f> {
    parameter: &'f Parameter,
    function: &'f str,
    is_text: bool,
}

impl Form<'_> {
    /// Refuses a value that is a text of one function and something else of another: nobody could tell which it is.
    fn check(&self, known: &[Form<'_>]) -> Result<(), Refusal> {
        let differs = |known: &&Form<'_>| known.parameter == self.parameter && known.is_text != self.is_text;
        let Some(other) = known.iter().find(differs) else { return Ok(()) };
        let (text, number) = if self.is_text { (self, other) } else { (other, self) };
        let (text, number) = (text.function.to_owned(), number.function.to_owned());
        Err(Refusal::SometimesText { value: self.parameter.to_string(), text, number })
    }
}

fn is_of_result(value: &Parameter) -> bool {
    match value {
        Parameter::Field { of, .. } => **of == Parameter::Result,
        value => *value == Parameter::Result,
    }
}

/// The functions that a name means: one, or versions of one for several types. Of templates and generic functions of standard libraries a program has those that it uses: none is as good.
pub(super) fn meant<'f>(name: &str, functions: &'f Functions) -> Result<Vec<&'f Function>, Refusal> {
    let pattern = FunctionPattern::new(name);
    if functions.all.is_empty() {
        return Err(Refusal::NoDebugInformation);
    }
    let found: Vec<&Function> =
        functions.found.iter().filter(|function| pattern.matches(&function.name)).collect();
    let inlined = functions.inlined.keys().filter(|function| pattern.matches(function));
    let mut paths: Vec<String> = (found.iter().map(|function| &function.name))
        .chain(inlined.clone())
        .map(|function| without_result(&function_path(function)).to_owned())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > 1 && !function_path(name).contains('*') {
        return Err(Refusal::Ambiguous { name: name.to_owned(), candidates: paths });
    }
    if let Some((function, into)) =
        inlined.clone().next().and_then(|name| functions.inlined.get_key_value(name))
    {
        return Err(Refusal::Inlined { function: function_path(function), into: into.clone() });
    }
    let others = functions.otherwise.iter();
    let others =
        others.filter(|other| pattern.matches_path(&function_path(other)) && !pattern.matches(other));
    let mut others: Vec<String> = others.cloned().collect();
    if found.is_empty() && !others.is_empty() {
        others.sort_unstable();
        return Err(Refusal::Otherwise { name: name.to_owned(), has: others });
    }
    if found.is_empty() && name.starts_with(STANDARD) {
        return match mistyped(name, &functions.all) {
            Some(nearest) => Err(Refusal::NoFunction { name: name.to_owned(), nearest }),
            None => Ok(found),
        };
    }
    if found.is_empty() {
        let mut all: Vec<&str> = prototypes::names().collect();
        all.extend(functions.all.iter().map(String::as_str));
        // One of this name is the runtime's, and stands for that of a library.
        let nearest = nearest(name, all.into_iter().filter(|other| *other != name));
        let nearest = nearest.into_iter().map(str::to_owned).collect();
        return Err(Refusal::NoFunction { name: name.to_owned(), nearest });
    }
    Ok(found)
}

/// If no program can have a function of a standard library that is called so, as far as `all` functions of this one tell: what was perhaps meant.
///
/// Of a class of C++ the program has all functions, declared if not used, but those that are templates themselves: a name that is nearly one of them is most likely no such. What Rust
/// programs write as `std::vec::Vec` is `alloc::vec::Vec`, and nothing is called otherwise.
fn mistyped(name: &str, all: &[String]) -> Option<Vec<String>> {
    let pattern = FunctionPattern::new(name);
    if name.contains('*') || all.iter().any(|function| pattern.matches_path(function)) {
        return None;
    }
    let path = function_path(name);
    let (scope, _) = path.rsplit_once("::")?;
    let members_of = |scope: &str| -> Vec<&str> {
        let paths = all.iter().map(|function| without_result(function));
        paths.filter(|path| path.rsplit_once("::").is_some_and(|(of, _)| of == scope)).collect()
    };
    let near = |members: Vec<&str>| nearest(name, members).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let own = members_of(scope);
    if own.is_empty() {
        let inside = scope.strip_prefix(STANDARD)?;
        let mut elsewhere = REEXPORTED.iter().map(|of| members_of(&format!("{of}{inside}")));
        return elsewhere.find(|members| !members.is_empty()).map(near);
    }
    let class = scope.rsplit("::").next()?;
    let is_class = own.iter().any(|function| function.rsplit("::").next() == Some(class));
    Some(near(own)).filter(|near| is_class && !near.is_empty())
}

impl Asked<'_> {
    fn name(&self) -> String {
        function_path(&self.function.name)
    }

    /// How a value is read, if it can be.
    fn scalar(&self, debug: &Debug<'_, '_>, wanted: &Parameter) -> Result<Option<Scalar>, Refusal> {
        let of = match wanted {
            Parameter::Result => self.function.result(debug),
            Parameter::Field { .. } => {
                return self.field(debug, wanted).map(|field| field.map(|field| field.scalar));
            }
            _ => self.parameters[self.find(wanted)?].type_of,
        };
        Ok(of.and_then(|of| types::passed(debug, of).ok()))
    }

    /// Notes that a field is asked for, if it is one.
    fn ask_field(&mut self, debug: &Debug<'_, '_>, wanted: &Parameter) -> Result<(), Refusal> {
        let field = self.field(debug, wanted)?.filter(|field| !self.fields.contains(field));
        self.fields.extend(field);
        Ok(())
    }

    /// The field that is asked for, if one is.
    fn field(&self, debug: &Debug<'_, '_>, wanted: &Parameter) -> Result<Option<AskedField>, Refusal> {
        let Parameter::Field { of: object, of_type, path } = wanted else { return Ok(None) };
        let of = if **object == Parameter::Result { None } else { Some(self.find(object)?) };
        let type_of = of.map_or_else(|| self.function.result(debug), |of| self.parameters[of].type_of);
        let asked = FieldOf { function: &self.name(), object: object.to_string(), of_type, path };
        let (offset, scalar) = fields::find(debug, type_of, &asked)?;
        Ok(Some(AskedField { of, path: path.clone(), offset, scalar }))
    }

    /// The fields of objects that it is called with, or else of the one that it returns.
    fn fields(&self, is_call: bool) -> impl Iterator<Item = &AskedField> {
        self.fields.iter().filter(move |field| field.of.is_some() == is_call)
    }

    /// What these fields are called in events.
    fn field_names(&self, is_call: bool) -> Vec<String> {
        let object = |of: usize| match &self.parameters[of] {
            parameter if parameter.is_receiver => RECEIVER.to_owned(),
            parameter if parameter.name.is_empty() => NAMELESS.to_owned(),
            parameter => parameter.name.replace(' ', NAMELESS),
        };
        let name =
            |field: &AskedField| format!("{}.{}", field.of.map_or(RETURNED.to_owned(), object), field.path);
        self.fields(is_call).map(name).collect()
    }

    /// The place of a parameter.
    fn find(&self, wanted: &Parameter) -> Result<usize, Refusal> {
        let mut declared = (0..self.parameters.len()).filter(|at| !self.parameters[*at].is_receiver);
        match wanted {
            Parameter::Position(position) => declared.nth(*position as usize).ok_or_else(|| {
                let has = self.parameters.iter().filter(|parameter| !parameter.is_receiver).count();
                Refusal::Arity { function: self.name(), asked: position + 1, has }
            }),
            Parameter::Named(name) => {
                let is_it = |parameter: &functions::Parameter| {
                    parameter.name == *name || name == RECEIVER && parameter.name == RUST_RECEIVER
                };
                self.parameters.iter().position(is_it).ok_or_else(|| {
                    let names = self.parameters.iter().map(|parameter| parameter.name.clone());
                    let has = names.filter(|name| !name.is_empty()).collect();
                    Refusal::NoParameter { function: self.name(), name: name.clone(), has }
                })
            }
            Parameter::Field { of, .. } => self.find(of),
            Parameter::Stored(name) => {
                Err(Refusal::StoredByOwn { function: self.name(), parameter: name.clone() })
            }
            Parameter::Result => Err(Refusal::NoResult { function: self.name() }),
        }
    }

    /// Whether no argument and no result is in a vector register, and whoever calls it takes these for changed, as the calling convention says. (gcc looks into functions that it knows
    /// whether they change registers, unless it is told not to; other compilers do not.)
    fn is_plain(&self, debug: &Debug<'_, '_>) -> bool {
        let is_scalar = |of: Die| types::passed(debug, of).is_ok();
        let producer = self.function.producer(debug);
        let looks_into = producer.starts_with("GNU") && !producer.contains("-fno-ipa-ra");
        self.parameters.iter().all(|parameter| parameter.type_of.is_some_and(is_scalar))
            && self.function.result(debug).is_none_or(is_scalar)
            && !self.function.is_variadic(debug)
            && !looks_into
    }

    /// The arguments that are kept until it returns: where they are when it is called, and how they are read.
    fn kept(&self, debug: &Debug<'_, '_>, code: &FunctionCode) -> Result<Vec<(u64, Scalar)>, Refusal> {
        let base = self.function.frame_base(debug);
        let function = self.name();
        let mut kept = Vec::new();
        for (parameter, _) in self.parameters.iter().zip(&self.at_return).filter(|(_, is_asked)| **is_asked) {
            let words = argument(debug, code, base, parameter, &function)?;
            let scalar = parameter.type_of.and_then(|of| types::passed(debug, of).ok());
            match (&words[..], scalar) {
                (&[word], Some(scalar)) if scalar.text.is_none() => kept.push((word, scalar)),
                _ => return Err(Refusal::TextAtReturn { function, parameter: parameter.name.clone() }),
            }
        }
        if kept.len() > MOST_KEPT {
            return Err(Refusal::TooManyAtReturn { function, asked: kept.len() });
        }
        Ok(kept)
    }

    /// Which of the arguments that are asked for at its return are objects: who they are is known where the call begins.
    fn objects(&self, debug: &Debug<'_, '_>) -> Vec<bool> {
        let is_object = |parameter: &functions::Parameter| {
            parameter.type_of.and_then(|of| types::passed(debug, of).ok()).is_some_and(|scalar| scalar.object)
        };
        let asked = self.parameters.iter().zip(&self.at_return);
        asked.map(|(parameter, is_asked)| *is_asked && is_object(parameter)).collect()
    }

    /// What is recorded where it returns: its result, or nothing in its place, then what was kept, which call it is if objects were, then fields of the object that it returns.
    fn returned(&self, debug: &Debug<'_, '_>, kept: &[(u64, Scalar)]) -> Result<Vec<u64>, Refusal> {
        let function = self.name();
        let mut values = Vec::new();
        let mut fields = Vec::new();
        if self.result {
            let of = self.function.result(debug).ok_or(Refusal::NoResult { function: function.clone() })?;
            let scalar = types::passed(debug, of)
                .map_err(|what| Refusal::ResultType { function: function.clone(), what })?;
            if scalar.size > WORD {
                let what = "a text of several words, which is recorded as an argument only".to_owned();
                return Err(Refusal::ResultType { function, what });
            }
            values.extend(words(scalar, Saved::Rax as u8, 0));
            let object = word(scalar, Saved::Rax as u8, 0);
            fields.extend(self.fields(false).flat_map(|of| field_words(of.scalar, object, of.offset)));
        } else if !kept.is_empty() {
            values.push(NO_RESULT.word());
        }
        let kept_words = (0..).zip(kept).map(|(at, (_, scalar))| word(*scalar, ValueWord::KEPT, at).word());
        values.extend(kept_words);
        values.extend(kept.iter().any(|(_, scalar)| scalar.object).then_some(CALL.word()));
        values.extend(fields);
        Ok(values)
    }

    /// Which arguments are recorded where it is called: those that are asked for there, and the objects that are asked for at its return.
    fn recorded(&self, objects: &[bool]) -> Vec<bool> {
        self.is_asked.iter().zip(objects).map(|(is_asked, is_object)| *is_asked || *is_object).collect()
    }

    /// The names of its parameters as events of its calls have them, or else of its returns.
    fn signature(&self, is_call: bool, objects: &[bool]) -> String {
        let asked = if is_call { self.recorded(objects) } else { self.at_return.clone() };
        let name = |(parameter, is_asked): (&functions::Parameter, &bool)| match (is_asked, &*parameter.name)
        {
            (false, _) => NOT_RECORDED.to_owned(),
            (true, _) if parameter.is_receiver => RECEIVER.to_owned(),
            (true, "") => NAMELESS.to_owned(),
            (true, name) => name.replace(' ', NAMELESS),
        };
        // A receiver has no position: one that is not asked for is not there.
        let has_place =
            |(parameter, is_asked): &(&functions::Parameter, &bool)| **is_asked || !parameter.is_receiver;
        let names = self.parameters.iter().zip(&asked).filter(has_place).map(name);
        let call = objects.contains(&true).then(|| CALL_NUMBER.to_owned());
        names.chain(call).chain(self.field_names(is_call)).collect::<Vec<_>>().join(" ")
    }
}

impl Program {
    /// Adds the hooks for what is asked of a function, one of all these.
    pub(super) fn hooks(
        &self,
        debug: &Debug<'_, '_>,
        asked: &Asked<'_>,
        all: &[Asked<'_>],
        hooks: &mut Vec<TableHook>,
    ) -> Result<(), Refusal> {
        let function = asked.name();
        let ranges = self.entered_first(&asked.function.ranges);
        let start = ranges.first().map_or(0, |range| range.start);
        let refused = |why: NoHook| Refusal::NoHook { function: asked.name(), why: why.to_string() };
        let refused_because = |why: String| Refusal::NoHook { function: asked.name(), why };
        let unclear = || refused_because("its code is not understood".to_owned());
        let code = FunctionCode::new(&self.code, &ranges).ok_or_else(unclear)?;
        if let Some((works, symbol)) = self.variant_that_works(&code) {
            let is_it = |other: &Asked<'_>| other.function.ranges.iter().any(|range| range.start == works);
            let why = || format!("its work is done in `{symbol}`, of which debug information tells nothing");
            return all.iter().any(is_it).then_some(()).ok_or_else(|| refused_because(why()));
        }
        let is_local = self.only_one(debug, asked, start)?;
        if let Some(thunk) = self.thunk_with_code(start) {
            return Err(Refusal::Inlined { function, into: thunk.to_owned() });
        }
        let is_known = !asked.result || !is_local && !asked.function.is_changed(debug);
        let mut free_from = start;
        let mut entry = None;
        let kept = asked.kept(debug, &code)?;
        let objects = asked.objects(debug);
        let has_objects = objects.contains(&true);
        if asked.is_called || !kept.is_empty() {
            let base = asked.function.frame_base(debug);
            let mut values = Vec::new();
            let recorded = asked.recorded(&objects);
            for (parameter, _) in asked.parameters.iter().zip(recorded).filter(|(_, is_asked)| *is_asked) {
                values.extend(argument(debug, &code, base, parameter, &function)?);
            }
            values.extend(has_objects.then_some(CALL.word()));
            for AskedField { of, offset, scalar, .. } in asked.fields(true) {
                let parameter = &asked.parameters[of.unwrap_or_default()];
                let object = argument(debug, &code, base, parameter, &function)?;
                let object =
                    object.first().map_or(ValueWord::from_word(0), |word| ValueWord::from_word(*word));
                values.extend(field_words(*scalar, object, *offset));
            }
            let hook = hooks::entry(&code).map_err(refused)?;
            free_from = hook.address + hook.len as u64;
            values.extend(kept.iter().map(|(word, _)| *word));
            entry = Some((hook, values));
        }
        let mut returns = Vec::new();
        let returned = asked.returned(debug, &kept)?;
        if asked.returns {
            let whole = entry.as_ref().map(|(entry, _)| hooks::whole(&code, entry, is_known)).transpose();
            match (whole.map_err(refused)?.flatten(), &mut entry) {
                (Some([before, behind]), Some((entry, _))) => {
                    *entry = before;
                    returns.push(behind);
                }
                _ => returns = hooks::returns(&self.code, &code, free_from, is_known).map_err(refused)?,
            }
        }
        let is_plain = asked.is_plain(debug);
        let table_hook = |hook, returns: bool, values: Vec<u64>| TableHook {
            hook,
            kind: HookKind::Code,
            name: asked.function.name.clone(),
            returns,
            parameters: asked.signature(!returns, &objects),
            values,
            saved: SavedArguments::default(),
            is_plain,
            kept: if returns { 0 } else { kept.len() },
            only_keeps: !returns && !asked.is_called && !has_objects,
        };
        if let Some((hook, values)) = entry {
            hooks.push(table_hook(hook, false, values));
        }
        let of_return = |hook| table_hook(hook, true, returned.clone());
        hooks.extend(returns.into_iter().map(of_return));
        Ok(())
    }

    /// Refuses a function that is not the only one of its name and of its code; whether only its file knows it.
    fn only_one(&self, debug: &Debug<'_, '_>, asked: &Asked<'_>, start: u64) -> Result<bool, Refusal> {
        let function = asked.name();
        let of_compiler = |symbol: &str| VERSIONS.iter().find_map(|version| symbol.find(version));
        let plain = |symbol: &str| symbol[..of_compiler(symbol).unwrap_or(symbol.len())].to_owned();
        let own: Vec<String> = self.at(start).map(|(_, symbol, _)| plain(symbol)).collect();
        let is_version =
            |symbol: &str| of_compiler(symbol).is_some_and(|len| own.iter().any(|own| *own == symbol[..len]));
        if let Some((_, symbol, _)) = self.symbols.iter().find(|(_, symbol, _)| is_version(symbol)) {
            return Err(Refusal::Version { function, symbol: symbol.clone() });
        }
        // A name that the linker or the compiler has made different ends in a number.
        let whole = |symbol: &str| match symbol.starts_with('_') {
            true => demangled(symbol),
            false => symbol.split('.').next().unwrap_or(symbol).to_owned(),
        };
        let path_of = |symbol: &str| function_path(&whole(symbol));
        let other = self.at(start).map(|(_, symbol, _)| path_of(symbol)).find(|path| *path != function);
        if let Some(other) = other {
            return Err(Refusal::SharesCode { function, other });
        }
        let producer = asked.function.producer(debug);
        let merges = ["-O2", "-O3", "-Os", "-Ofast", "-Oz"].iter().any(|level| producer.contains(level));
        if producer.starts_with("GNU") && merges && !producer.contains("-fno-ipa-icf") {
            return Err(Refusal::MayShareCode { function });
        }
        Ok(self.at(start).all(|(.., is_local)| *is_local))
    }

    /// The pieces of a function, that with its first instruction first.
    fn entered_first(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let is_apart = |range: &Range<u64>| {
            self.at(range.start).next().is_none_or(|(_, symbol, _)| symbol.contains(PART))
        };
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(is_apart);
        ranges
    }
}

/// Where a parameter's value is when the function is entered, as words of the table.
fn argument(
    debug: &Debug<'_, '_>,
    code: &FunctionCode,
    base: places::FrameBase,
    parameter: &functions::Parameter,
    function: &str,
) -> Result<Vec<u64>, Refusal> {
    let name = || if parameter.name.is_empty() { NAMELESS.to_owned() } else { parameter.name.clone() };
    let of_type = |what: String| Refusal::Type { function: function.to_owned(), parameter: name(), what };
    let of = parameter.type_of.ok_or_else(|| of_type("of a type that is not known".to_owned()))?;
    let scalar = types::passed(debug, of).map_err(of_type)?;
    let refused = |why| Refusal::NoValue { function: function.to_owned(), parameter: name(), why };
    let is_text = scalar.size > WORD;
    let find = |part: Part| {
        let locations = parameter.locations(debug, part);
        let unclear = || match locations {
            // Only optimised code has lists.
            places::Locations::List(_) => refused(UNCLEAR),
            _ => Refusal::UnclearValue { function: function.to_owned(), parameter: name() },
        };
        let place = places::place(&code.instructions, base, &locations, scalar.size.min(WORD));
        let place = place.map_err(|why| match why {
            NoPlace::Constant if is_text => {
                refused("is a text of which a part is always the same, and is not passed")
            }
            NoPlace::Removed if is_text => refused("is a text of which a part was removed by the optimiser"),
            NoPlace::Constant => refused("always has the same value, and is not passed"),
            NoPlace::Removed => refused("was removed by the optimiser"),
            NoPlace::Unclear => unclear(),
        });
        match place? {
            Place::Stack(offset) => Ok((ValueWord::ON_STACK, offset)),
            Place::Register(register) => saved(register).map(|saved| (saved as u8, 0)).ok_or_else(unclear),
        }
    };
    Ok(match scalar.text {
        Some(Text::Counted { pointer, length }) => {
            let (register, offset) = find(Part::Word(pointer))?;
            let counted = words(scalar, register, offset);
            let (register, offset) = find(Part::Word(length))?;
            [counted, words(LENGTH, register, offset)].concat()
        }
        Some(Text::Structure { .. }) if is_text => {
            let (register, offset) = find(Part::Address)?;
            words(scalar, register, offset)
        }
        _ => {
            let (register, offset) = find(Part::Whole)?;
            words(scalar, register, offset)
        }
    })
}

fn saved(register: Register) -> Option<Saved> {
    Some(match register {
        Register::RDI => Saved::Rdi,
        Register::RSI => Saved::Rsi,
        Register::RDX => Saved::Rdx,
        Register::RCX => Saved::Rcx,
        Register::R8 => Saved::R8,
        Register::R9 => Saved::R9,
        Register::RAX => Saved::Rax,
        Register::R10 => Saved::R10,
        Register::R11 => Saved::R11,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::mistyped;

    #[test]
    fn names_of_standard_libraries_that_nothing_can_have_are_known() {
        let all: Vec<String> = [
            "main",
            "std::vector::vector",
            "std::vector::push_back",
            "std::vector::pop_back",
            "int& std::vector::_M_realloc_insert",
            "std::swap",
            "alloc::vec::Vec::push",
            "alloc::vec::Vec::len",
            "std::sync::mpmc::list::Channel::send",
        ]
        .map(str::to_owned)
        .into();
        let near = |name| mistyped(name, &all).map(|near| near.join(" "));
        assert_eq!(near("std::vector::pussh_back").as_deref(), Some("std::vector::push_back"));
        assert_eq!(near("std::vec::Vec::push").as_deref(), Some("alloc::vec::Vec::push"));
        assert_eq!(near("std::vec::Vec::pussh").as_deref(), Some("alloc::vec::Vec::push"));
        assert_eq!(near("std::vec::Vec::reserve_exact").as_deref(), Some(""));
        // Those may be there: declared, templates, of a class or a namespace that this program does not use, or part of what it uses.
        for name in [
            "std::vector::push_back",
            "std::vector::emplace_back",
            "std::deque::push_bakc",
            "std::swab",
            "std::vector::pussh*",
            "std::sync::mpmc::list::Channel::sent",
        ] {
            assert_eq!(near(name), None, "{name}");
        }
    }
}
