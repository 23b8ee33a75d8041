//! Functions of libraries that properties name: which values they have (`prototypes`), and how the program reaches them.
//!
//! A program calls such a function through words that the linker fills in: a hook there sees every call of the program's own file, also through a pointer. Functions
//! of the C library that the runtime records are entry points of its own in the program's file; a hook there sees the calls of libraries, too. One that
//! the program has neither way calls nowhere: there is nothing to hook, and nothing to see.
//!
//! Arguments are where the calling convention puts them. For a result, the hook calls the function, so that all arguments have to be in registers.

use foresee_format::{HookKind, Saved, SavedArguments, ValueWord};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use object::{Object as _, RelocationTarget};

use super::code::FunctionCode;
use super::hooks::{self, Hook, NoHook};
use super::program::Program;
use super::prototypes::{self, Passed, Prototype};
use super::refusal::Refusal;
use super::table::{CALL, NO_RESULT, TableHook, word};
use super::wanted::{CALL_NUMBER, NOT_RECORDED, Parameter, Values, WantedCall};
use crate::types::Scalar;

use crate::image::Elf;

/// The registers of arguments, in their order.
const ARGUMENTS: [Saved; 6] = [Saved::Rdi, Saved::Rsi, Saved::Rdx, Saved::Rcx, Saved::R8, Saved::R9];
/// How a file asks for the address of a function.
const WORD_TYPES: [object::elf::RelocationType; 3] =
    [object::elf::R_X86_64_64, object::elf::R_X86_64_GLOB_DAT, object::elf::R_X86_64_JUMP_SLOT];

/// A function of a library with all that is asked of it.
pub(super) struct AskedLibrary {
    pub(super) by: String,
    prototype: Prototype,
    /// Its calls are events, whatever is asked of them.
    is_called: bool,
    /// Its arguments, of each of them.
    is_asked: Vec<bool>,
    /// What is asked when it returns.
    returned: Option<Vec<AtReturn>>,
}

/// What is asked of a parameter when the function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtReturn {
    Nothing,
    /// The argument.
    Argument,
    /// What is stored where it points.
    Stored,
}

/// Notes what is asked of a function of a library; false if this is none that is known.
pub(super) fn ask(wanted: &WantedCall, name: &str, asked: &mut Vec<AskedLibrary>) -> Result<bool, Refusal> {
    let Some(prototype) = prototypes::find(name) else { return Ok(false) };
    let at = asked.iter().position(|one| one.prototype.name == name).unwrap_or_else(|| {
        let is_asked = vec![false; prototype.parameters.len()];
        let by = wanted.by.clone();
        asked.push(AskedLibrary { by, prototype, is_called: false, is_asked, returned: None });
        asked.len() - 1
    });
    let one = &mut asked[at];
    one.ask(&wanted.values)?;
    for (parameter, how) in wanted.values.all().iter().zip(&wanted.uses) {
        let scalar = match (parameter, one.prototype.result) {
            (Parameter::Result, Passed::Value(scalar)) => Some(scalar),
            (Parameter::Result, _) => None,
            (Parameter::Stored(_), _) => one.prototype.parameters[one.find(parameter)?].stored,
            (Parameter::Field { .. }, _) => None,
            (Parameter::Position(_) | Parameter::Named(_), _) => {
                one.prototype.parameters[one.find(parameter)?].scalar
            }
        };
        scalar.map_or(Ok(()), |scalar| how.check(scalar, name, parameter))?;
    }
    Ok(true)
}

impl AskedLibrary {
    fn name(&self) -> String {
        self.prototype.name.to_owned()
    }

    fn ask(&mut self, values: &Values) -> Result<(), Refusal> {
        match values {
            Values::Arguments(parameters) => {
                self.is_called = true;
                for parameter in parameters {
                    let at = self.find(parameter)?;
                    self.is_asked[at] = true;
                }
            }
            Values::Returned(parameters) => {
                let nothing = vec![AtReturn::Nothing; self.prototype.parameters.len()];
                let mut asked = self.returned.take().unwrap_or(nothing);
                for parameter in parameters {
                    let what = match parameter {
                        Parameter::Result if self.prototype.result == Passed::Nothing => {
                            return Err(Refusal::NoResult { function: self.name() });
                        }
                        Parameter::Result => continue,
                        Parameter::Field { .. } => {
                            return Err(Refusal::FieldOfLibrary { function: self.name() });
                        }
                        Parameter::Stored(_) => AtReturn::Stored,
                        Parameter::Position(_) | Parameter::Named(_) => AtReturn::Argument,
                    };
                    let at = self.find(parameter)?;
                    if asked[at] != AtReturn::Nothing && asked[at] != what {
                        let parameter = self.prototype.parameters[at].name.to_owned();
                        return Err(Refusal::AskedTwice { function: self.name(), parameter });
                    }
                    asked[at] = what;
                }
                self.returned = Some(asked);
            }
        }
        Ok(())
    }

    fn find(&self, wanted: &Parameter) -> Result<usize, Refusal> {
        let has = &self.prototype.parameters;
        match wanted {
            Parameter::Position(position) => {
                let at = *position as usize;
                let arity = Refusal::Arity { function: self.name(), asked: position + 1, has: has.len() };
                (at < has.len()).then_some(at).ok_or(arity)
            }
            Parameter::Named(name) | Parameter::Stored(name) => {
                has.iter().position(|parameter| parameter.name == name).ok_or_else(|| {
                    let has = has.iter().map(|parameter| parameter.name.to_owned()).collect();
                    Refusal::NoParameter { function: self.name(), name: name.clone(), has }
                })
            }
            Parameter::Field { .. } => Err(Refusal::FieldOfLibrary { function: self.name() }),
            Parameter::Result => Err(Refusal::NoResult { function: self.name() }),
        }
    }

    /// Adds its hooks, if the program can call it.
    pub(super) fn hooks(
        &self,
        program: &Program,
        file: &Elf<'_>,
        hooks: &mut Vec<TableHook>,
    ) -> Result<(), Refusal> {
        let mut of_call = self.has_entry().then(|| self.call()).transpose()?;
        let of_return = self.returned.as_deref().map(|asked| self.returns(asked)).transpose()?;
        for (kind, hook) in self.places(program, file)? {
            let Recorded { returns, parameters, values, saved } = match (of_call.take(), &of_return) {
                (Some(call), _) => call,
                (None, Some(returns)) => returns.clone(),
                (None, None) => continue,
            };
            // In its own code it is not called by the hook.
            let saved =
                if kind == HookKind::Code && hook.len > 0 { SavedArguments::default() } else { saved };
            let (name, is_plain) = (self.name(), self.is_plain());
            let values = values.iter().map(|value| value.word()).collect();
            let (kept, only_keeps) = (0, false);
            hooks.push(TableHook {
                hook,
                kind,
                name,
                returns,
                parameters,
                values,
                saved,
                is_plain,
                kept,
                only_keeps,
            });
        }
        Ok(())
    }

    /// Which of the arguments that are asked for at its return are objects: who they are is known where the call begins.
    fn objects(&self) -> Vec<bool> {
        let is_object = |(at, parameter): (usize, &prototypes::Parameter)| {
            let asked = self.returned.as_ref().and_then(|asked| asked.get(at));
            asked == Some(&AtReturn::Argument) && parameter.scalar.is_some_and(|scalar| scalar.object)
        };
        self.prototype.parameters.iter().enumerate().map(is_object).collect()
    }

    /// Whether something is recorded where it is called.
    fn has_entry(&self) -> bool {
        self.is_called || self.objects().contains(&true)
    }

    /// Whether nothing is passed or returned in vector registers.
    fn is_plain(&self) -> bool {
        let is_scalar = |parameter: &prototypes::Parameter| parameter.scalar.is_some();
        let Prototype { parameters, result, is_variadic, .. } = &self.prototype;
        !is_variadic && *result != Passed::Other && parameters.iter().all(is_scalar)
    }

    /// What is recorded where it is called.
    fn call(&self) -> Result<Recorded, Refusal> {
        let objects = self.objects();
        let recorded: Vec<bool> =
            self.is_asked.iter().zip(&objects).map(|(is_asked, is_object)| *is_asked || *is_object).collect();
        let has_objects = objects.contains(&true);
        let asked = (0..).zip(&recorded).filter(|(_, is_asked)| **is_asked);
        let value = |(at, _): (usize, _)| {
            let scalar = self.scalar(at, AtReturn::Argument)?;
            Ok(word(scalar, ARGUMENTS[at] as u8, 0))
        };
        let mut values = asked.map(value).collect::<Result<Vec<_>, _>>()?;
        values.extend(has_objects.then_some(CALL));
        let name = |(parameter, is_asked): (&prototypes::Parameter, &bool)| match is_asked {
            true => parameter.name,
            false => NOT_RECORDED,
        };
        let names = self.prototype.parameters.iter().zip(&recorded).map(name);
        let names: Vec<&str> = names.chain(has_objects.then_some(CALL_NUMBER)).collect();
        let saved = SavedArguments::default();
        Ok(Recorded { returns: false, parameters: names.join(" "), values, saved })
    }

    /// What is recorded where it returns.
    fn returns(&self, asked: &[AtReturn]) -> Result<Recorded, Refusal> {
        let result = match self.prototype.result {
            Passed::Value(scalar) => word(scalar, Saved::Rax as u8, 0),
            Passed::Nothing => NO_RESULT,
            Passed::Other => {
                let what = "what is no number or pointer".to_owned();
                return Err(Refusal::ResultType { function: self.name(), what });
            }
        };
        let is_asked = |(_, what): &(usize, &AtReturn)| **what != AtReturn::Nothing;
        let of_parameter = |(at, what): (usize, &AtReturn)| Ok((at as u8, *what, self.scalar(at, *what)?));
        let kept =
            (0..).zip(asked).filter(is_asked).map(of_parameter).collect::<Result<Vec<_>, Refusal>>()?;
        let saved = kept.iter().fold(SavedArguments::NONE, |saved, (at, ..)| saved.with(*at));
        let value = |&(at, what, scalar): &(u8, AtReturn, Scalar)| ValueWord {
            stored: what == AtReturn::Stored,
            ..word(scalar, ValueWord::ON_STACK, saved.offset(at))
        };
        let has_objects = self.objects().contains(&true);
        let call = has_objects.then_some(CALL);
        let values = std::iter::once(result).chain(kept.iter().map(value)).chain(call).collect();
        let name = |(parameter, what): (&prototypes::Parameter, &AtReturn)| match what {
            AtReturn::Nothing => NOT_RECORDED.to_owned(),
            AtReturn::Argument => parameter.name.to_owned(),
            AtReturn::Stored => format!("*{}", parameter.name),
        };
        let names = self.prototype.parameters.iter().zip(asked).map(name);
        let names: Vec<String> = names.chain(has_objects.then(|| CALL_NUMBER.to_owned())).collect();
        Ok(Recorded { returns: true, parameters: names.join(" "), values, saved })
    }

    /// How a parameter is read, if it is in a register.
    fn scalar(&self, at: usize, what: AtReturn) -> Result<Scalar, Refusal> {
        let parameter = &self.prototype.parameters[at];
        let (function, name) = (self.name(), parameter.name.to_owned());
        if what == AtReturn::Stored {
            let refused = Refusal::PointsElsewhere { function, parameter: name };
            return parameter.stored.filter(|_| at < ARGUMENTS.len()).ok_or(refused);
        }
        let why = "is passed in a way that is not understood";
        let refused = Refusal::NoValue { function, parameter: name, why };
        parameter.scalar.filter(|_| at < ARGUMENTS.len()).ok_or(refused)
    }

    /// How the program reaches it, if it does: where it is called if arguments are asked for, and then where it returns if the result is.
    fn places(&self, program: &Program, file: &Elf<'_>) -> Result<Vec<(HookKind, Hook)>, Refusal> {
        let refused = |why: &str| Refusal::NoHook { function: self.name(), why: why.to_owned() };
        let asks_for_both = self.returned.is_some() && self.has_entry();
        let of_library = |kind, hook| {
            let behind = Hook { address: 0, len: 0, copied: Vec::new(), fields: Vec::new() };
            let behind = asks_for_both.then_some((HookKind::Code, behind));
            Ok(std::iter::once((kind, hook)).chain(behind).collect())
        };
        let own = program.symbols.iter().find(|(_, symbol, _)| symbol == self.prototype.name);
        if let Some((start, ..)) = own {
            return match entry_point(program, *start) {
                Some(hook) => of_library(HookKind::EntryPoint, hook),
                None => self.in_code(program, *start).map_err(|why| refused(&why.to_string())),
            };
        }
        let words = imported(file, self.prototype.name);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let fits = self.prototype.parameters.len() <= ARGUMENTS.len() && !self.prototype.is_variadic;
        if self.returned.is_some() && !fits {
            return Err(refused("it takes arguments on the stack, so that its return cannot be seen"));
        }
        let fields = words.iter().map(|word| *word as usize).collect();
        of_library(HookKind::Import, Hook { address: 0, len: 0, copied: Vec::new(), fields })
    }

    /// Hooks in the code of an entry point that does more.
    fn in_code(&self, program: &Program, start: u64) -> Result<Vec<(HookKind, Hook)>, NoHook> {
        let end = program.code.next_start(start + 1);
        let range = start..end;
        let code = FunctionCode::new(&program.code, std::slice::from_ref(&range)).ok_or(NoHook::Beginning)?;
        let mut hooks = Vec::new();
        let mut free_from = start;
        if self.has_entry() {
            let entry = hooks::entry(&code)?;
            free_from = entry.address + entry.len as u64;
            hooks.push((HookKind::Code, entry));
        }
        if let Some(asked) = &self.returned {
            if asked.iter().any(|asked| *asked != AtReturn::Nothing) {
                return Err(NoHook::ArgumentsAreGone);
            }
            let returns = hooks::returns(&program.code, &code, free_from, true)?;
            hooks.extend(returns.into_iter().map(|hook| (HookKind::Code, hook)));
        }
        Ok(hooks)
    }
}

/// What a hook records.
#[derive(Clone)]
struct Recorded {
    returns: bool,
    parameters: String,
    values: Vec<ValueWord>,
    saved: SavedArguments,
}

/// The words of the program through which it calls this function of another file.
fn imported(file: &Elf<'_>, name: &str) -> Vec<u64> {
    use object::{ObjectSymbol as _, ObjectSymbolTable as _, RelocationFlags};
    let Some((symbols, all)) = file.dynamic_symbol_table().zip(file.dynamic_relocations()) else {
        return Vec::new();
    };
    let is_meant = |relocation: &object::Relocation| {
        let RelocationTarget::Symbol(index) = relocation.target() else { return false };
        let symbol = symbols.symbol_by_index(index).ok().filter(|symbol| symbol.is_undefined());
        let is_word =
            matches!(relocation.flags(), RelocationFlags::Elf { r_type } if WORD_TYPES.contains(&r_type));
        is_word && symbol.is_some_and(|symbol| symbol.name() == Ok(name))
    };
    all.filter(|(_, relocation)| is_meant(relocation)).map(|(at, _)| at).collect()
}

/// The hook in place of an entry point of the runtime: `mov register, [rsp]` and a jump.
fn entry_point(program: &Program, start: u64) -> Option<Hook> {
    const LONGEST: u64 = 16;
    let bytes = (LONGEST / 2..=LONGEST).rev().find_map(|len| program.code.bytes(start..start + len))?;
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let (first, second) = (decoder.decode(), decoder.decode());
    let passes_caller = |one: &Instruction| {
        one.mnemonic() == Mnemonic::Mov
            && one.memory_base() == Register::RSP
            && one.memory_index() == Register::None
            && one.memory_displacement64() == 0
    };
    let goes_on = second.flow_control() == FlowControl::UnconditionalBranch && second.len() == 5;
    (passes_caller(&first) && goes_on).then(|| Hook {
        address: start,
        len: first.len() + second.len(),
        copied: bytes[..first.len()].to_vec(),
        fields: vec![second.near_branch_target() as usize],
    })
}
