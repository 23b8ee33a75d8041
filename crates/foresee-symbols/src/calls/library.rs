//! Functions of libraries that properties name: which values they have (`prototypes`), and how the program reaches them.
//!
//! A program calls such a function through words that the linker fills in: a hook there sees every call of the program's own file, also through a pointer. Functions
//! of the C library that the runtime records are entry points of its own in the program's file; a hook there sees the calls of libraries, too. One that
//! the program has neither way calls nowhere: there is nothing to hook, and nothing to see.
//!
//! Arguments are where the calling convention puts them. For a result, the hook calls the function, so that all arguments have to be in registers.

use foresee_format::{HookKind, Saved};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use object::{Object as _, RelocationTarget};

use super::code::FunctionCode;
use super::hooks::{self, Hook, NoHook};
use super::prototypes::{self, Passed, Prototype};
use super::{NAMELESS, NOT_RECORDED, Parameter, Program, Refusal, TableHook, Values, word};
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
    is_asked: Vec<bool>,
    result: bool,
}

/// Notes what is asked of a function of a library; false if this is none that is known.
pub(super) fn ask(
    by: &str,
    name: &str,
    values: &Values,
    asked: &mut Vec<AskedLibrary>,
) -> Result<bool, Refusal> {
    let Some(prototype) = prototypes::find(name) else { return Ok(false) };
    let at = asked.iter().position(|one| one.prototype.name == name).unwrap_or_else(|| {
        let is_asked = vec![false; prototype.parameters.len()];
        asked.push(AskedLibrary { by: by.to_owned(), prototype, is_asked, result: false });
        asked.len() - 1
    });
    let one = &mut asked[at];
    match values {
        Values::Result => one.result = true,
        Values::Arguments(parameters) => {
            for parameter in parameters {
                let at = one.find(parameter)?;
                one.is_asked[at] = true;
            }
        }
    }
    Ok(true)
}

impl AskedLibrary {
    fn name(&self) -> String {
        self.prototype.name.to_owned()
    }

    fn find(&self, wanted: &Parameter) -> Result<usize, Refusal> {
        let has = &self.prototype.parameters;
        match wanted {
            Parameter::Position(position) => {
                let at = *position as usize;
                let arity = Refusal::Arity { function: self.name(), asked: position + 1, has: has.len() };
                (at < has.len()).then_some(at).ok_or(arity)
            }
            Parameter::Named(name) => has.iter().position(|(of, _)| of == name).ok_or_else(|| {
                let has = has.iter().map(|(name, _)| (*name).to_owned()).collect();
                Refusal::NoParameter { function: self.name(), name: name.clone(), has }
            }),
        }
    }

    fn signature(&self) -> String {
        let names = self.prototype.parameters.iter().zip(&self.is_asked);
        let name = |((name, _), is_asked): (&(&'static str, _), &bool)| match (is_asked, *name) {
            (false, _) => NOT_RECORDED,
            (true, "") => NAMELESS,
            (true, name) => name,
        };
        names.map(name).collect::<Vec<_>>().join(" ")
    }

    /// Adds its hooks, if the program can call it.
    pub(super) fn hooks(
        &self,
        program: &Program,
        file: &Elf<'_>,
        hooks: &mut Vec<TableHook>,
    ) -> Result<(), Refusal> {
        let places = self.places(program, file)?;
        let values = self.is_asked.contains(&true).then(|| self.values()).transpose()?;
        let result = self.result.then(|| self.result_word()).transpose()?;
        for (at, (kind, hook)) in places.into_iter().enumerate() {
            let of_call = values.as_ref().filter(|_| at == 0);
            let parameters = of_call.map(|_| self.signature());
            let values = of_call.cloned().unwrap_or_else(|| result.into_iter().collect());
            hooks.push(TableHook { hook, kind, name: self.name(), parameters, values });
        }
        Ok(())
    }

    fn values(&self) -> Result<Vec<foresee_format::ValueWord>, Refusal> {
        let asked = self.prototype.parameters.iter().zip(&self.is_asked).enumerate();
        let asked = asked.filter(|(_, (_, is_asked))| **is_asked);
        asked
            .map(|(at, ((parameter, scalar), _))| match (scalar, ARGUMENTS.get(at)) {
                (Some(scalar), Some(register)) => Ok(word(*scalar, *register as u8, 0)),
                _ => Err(Refusal::NoValue {
                    function: self.name(),
                    parameter: (*parameter).to_owned(),
                    why: "is passed in a way that is not understood",
                }),
            })
            .collect()
    }

    fn result_word(&self) -> Result<foresee_format::ValueWord, Refusal> {
        match self.prototype.result {
            Passed::Nothing => Err(Refusal::NoResult { function: self.name() }),
            Passed::Value(scalar) => Ok(word(scalar, Saved::Rax as u8, 0)),
            Passed::Other => {
                let what = "what is no number or pointer".to_owned();
                Err(Refusal::ResultType { function: self.name(), what })
            }
        }
    }

    /// How the program reaches it, if it does: where it is called if arguments are asked for, and then where it returns if the result is.
    fn places(&self, program: &Program, file: &Elf<'_>) -> Result<Vec<(HookKind, Hook)>, Refusal> {
        let refused = |why: &str| Refusal::NoHook { function: self.name(), why: why.to_owned() };
        let asks_for_both = self.result && self.is_asked.contains(&true);
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
        if self.result && !fits {
            return Err(refused("it takes arguments on the stack, so that its result cannot be seen"));
        }
        let fields = words.iter().map(|word| *word as usize).collect();
        of_library(HookKind::Import, Hook { address: 0, len: 0, copied: Vec::new(), fields })
    }

    /// Hooks in the code of an entry point that does more.
    fn in_code(&self, program: &Program, start: u64) -> Result<Vec<(HookKind, Hook)>, NoHook> {
        let end = program.code.next_start(start + 1);
        let code = FunctionCode::new(&program.code, &[start..end]).ok_or(NoHook::Beginning)?;
        let mut hooks = Vec::new();
        let mut free_from = start;
        if self.is_asked.contains(&true) {
            let entry = hooks::entry(&code)?;
            free_from = entry.address + entry.len as u64;
            hooks.push((HookKind::Code, entry));
        }
        if self.result {
            let returns = hooks::returns(&program.code, &code, free_from, true)?;
            hooks.extend(returns.into_iter().map(|hook| (HookKind::Code, hook)));
        }
        Ok(hooks)
    }
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
        let is_word = matches!(relocation.flags(), RelocationFlags::Elf { r_type } if WORD_TYPES.contains(&r_type));
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
