//! Where the arguments of a function are when it is entered.
//!
//! Calling conventions are not asked: Rust has none that is written down, and optimisers change those of functions that only they
//! know. What the compiler itself says is taken, the location of each parameter, and followed back to the function's first instruction:
//!
//! - Optimised code has a list of locations. The one that is valid at the first instruction is the answer; one that becomes valid
//!   within the first block is a register that then holds what another held at the beginning.
//! - Code that is not optimised has one location for the whole function, in memory, and fills it in its first block. The first store
//!   to it says which register the argument was in.
//! - Arguments that come on the stack are at a place above the return address.
//!
//! For this the first block is run with symbols instead of values ([`Walk`]). Whatever it does not understand makes a value unknown; a
//! parameter for which nothing is left is refused.

use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::FxHashMap;

/// Where the return address is, and what everything on the stack is relative to: the stack pointer at the first instruction.
const RETURN_ADDRESS: i64 = 0;
/// Where the first argument on the stack is. It is also what debug information calls the frame's address.
pub(super) const FRAME: i64 = 8;

/// Where an argument is at the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Register(Register),
    /// So far above the return address.
    Stack(u32),
}

/// What a location is, as far as it is of use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Register(Register),
    /// What the register held at the first instruction.
    Entry(Register),
    /// So far from the base of the frame.
    Frame(i64),
    /// The parameter has this value always: it is not passed.
    Constant,
    /// It is not passed, or not kept.
    Removed,
    Other,
}

/// The locations of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Locations {
    /// One for the whole function.
    Always(Location),
    /// Each from an address to another.
    List(Vec<(u64, u64, Location)>),
    Nowhere,
}

/// What locations in the frame are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameBase {
    /// The stack pointer before the call.
    Frame,
    /// What this register holds within the function, once its frame is made.
    Register(Register),
    Other,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// It always has the same value, and is not passed.
    Constant,
    /// It is not passed, or not kept.
    Removed,
    /// It is somewhere, and it is not understood where.
    Unclear,
}

/// Where the parameter with these locations and of this size is, in the function with these instructions.
pub(super) fn place(
    instructions: &[Instruction],
    base: FrameBase,
    locations: &Locations,
    size: u8,
) -> Result<Place, NoPlace> {
    let first = instructions.first().map_or(0, Instruction::ip);
    let list = match locations {
        Locations::Nowhere => return Err(NoPlace::Removed),
        Locations::Always(Location::Register(register) | Location::Entry(register)) => {
            return Ok(Place::Register(*register));
        }
        Locations::Always(Location::Frame(offset)) => return in_frame(instructions, base, *offset, size),
        Locations::Always(Location::Constant) => return Err(NoPlace::Constant),
        Locations::Always(Location::Removed) => return Err(NoPlace::Removed),
        Locations::Always(Location::Other) => return Err(NoPlace::Unclear),
        Locations::List(list) => list,
    };
    match list.iter().find(|(from, to, _)| (*from..*to).contains(&first)) {
        Some((.., Location::Register(register) | Location::Entry(register))) => {
            return Ok(Place::Register(*register));
        }
        Some((.., Location::Frame(offset))) if base == FrameBase::Frame => {
            return on_stack(FRAME + offset).ok_or(NoPlace::Unclear);
        }
        Some((.., Location::Constant)) => return Err(NoPlace::Constant),
        Some((.., Location::Removed)) => return Err(NoPlace::Removed),
        Some(_) => return Err(NoPlace::Unclear),
        None => {}
    }
    // It becomes known within the first block, in a register.
    let mut walk = Walk::new();
    for instruction in instructions {
        let begins = list.iter().find(|(from, ..)| *from == instruction.ip());
        if let Some((.., Location::Register(register))) = begins
            && let Known { value: Value::Entry(entry), bytes } = walk.register(*register)
            && bytes >= size
        {
            return Ok(Place::Register(entry));
        }
        if !walk.step(instruction) {
            break;
        }
    }
    Err(if list.is_empty() { NoPlace::Removed } else { NoPlace::Unclear })
}

fn on_stack(place: i64) -> Option<Place> {
    (place >= FRAME).then(|| u32::try_from(place).ok().map(Place::Stack)).flatten()
}

/// The parameter is in memory of the frame, all the time.
fn in_frame(instructions: &[Instruction], base: FrameBase, offset: i64, size: u8) -> Result<Place, NoPlace> {
    let mut walk = Walk::new();
    let _ = instructions.iter().all(|instruction| walk.step(instruction));
    let base = match base {
        FrameBase::Frame => FRAME,
        FrameBase::Register(register) => *walk.bases.get(&register).ok_or(NoPlace::Unclear)?,
        FrameBase::Other => return Err(NoPlace::Unclear),
    };
    let slot = base + offset;
    if let Some(place) = on_stack(slot) {
        // Callers with another convention (`ms_abi`) leave room there, into which the function itself puts what came in a register.
        let is_filled = matches!(walk.first_stores.get(&slot), Some(Known { value: Value::Entry(_), .. }));
        return if is_filled { Err(NoPlace::Unclear) } else { Ok(place) };
    }
    match walk.first_stores.get(&slot) {
        Some(Known { value: Value::Entry(register), bytes }) if *bytes >= size => {
            Ok(Place::Register(*register))
        }
        Some(Known { value: Value::Incoming(place), bytes }) if *bytes >= size => {
            on_stack(*place).ok_or(NoPlace::Unclear)
        }
        Some(_) => Err(NoPlace::Unclear),
        None => Err(NoPlace::Removed),
    }
}

/// What is in a register or on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// What this register held at the first instruction.
    Entry(Register),
    /// What was at this place of the stack then.
    Incoming(i64),
    /// The address of this place.
    Stack(i64),
    Unknown,
}

/// A value, and how many of its lowest bytes are that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    value: Value,
    bytes: u8,
}

const UNKNOWN: Known = Known { value: Value::Unknown, bytes: 0 };

impl Known {
    fn narrowed(self, bytes: u8) -> Known {
        let keeps = bytes == 8 || !matches!(self.value, Value::Stack(_));
        if keeps { Known { bytes: self.bytes.min(bytes), ..self } } else { UNKNOWN }
    }
}

/// Registers that calls may change.
const CHANGED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// Runs a block with symbols instead of values.
struct Walk {
    registers: FxHashMap<Register, Known>,
    slots: FxHashMap<i64, Known>,
    /// What was stored first at each place.
    first_stores: FxHashMap<i64, Known>,
    /// The place of the stack that each register was last the address of; of the stack pointer the lowest.
    bases: FxHashMap<Register, i64>,
    factory: InstructionInfoFactory,
}

impl Walk {
    fn new() -> Walk {
        let mut registers = FxHashMap::default();
        registers.insert(Register::RSP, Known { value: Value::Stack(RETURN_ADDRESS), bytes: 8 });
        Walk {
            registers,
            slots: FxHashMap::default(),
            first_stores: FxHashMap::default(),
            bases: FxHashMap::default(),
            factory: InstructionInfoFactory::new(),
        }
    }

    fn register(&self, register: Register) -> Known {
        let full = register.full_register();
        let at_first = Known { value: Value::Entry(full), bytes: 8 };
        let known = self.registers.get(&full).copied().unwrap_or(at_first);
        known.narrowed(width(register))
    }

    fn set(&mut self, register: Register, known: Known) {
        if let Value::Stack(at) = known.value {
            let base = self.bases.entry(register.full_register()).or_insert(at);
            *base = if register == Register::RSP { at.min(*base) } else { at };
        }
        let is_high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        self.registers.insert(register.full_register(), if is_high { UNKNOWN } else { known });
    }

    fn store(&mut self, slot: i64, known: Known) {
        self.first_stores.entry(slot).or_insert(known);
        self.slots.insert(slot, known);
    }

    /// The place on the stack that the memory operand is, if it is one.
    fn slot(&self, instruction: &Instruction) -> Option<i64> {
        let is_plain = instruction.memory_index() == Register::None
            && instruction.segment_prefix() == Register::None
            && instruction.memory_base().is_gpr64();
        let base = is_plain.then(|| self.register(instruction.memory_base()).value)?;
        let Value::Stack(base) = base else { return None };
        base.checked_add(instruction.memory_displacement64() as i64)
    }

    fn adjust(&mut self, by: i64) {
        let known = match self.register(Register::RSP).value {
            Value::Stack(at) => Known { value: Value::Stack(at + by), bytes: 8 },
            _ => UNKNOWN,
        };
        self.set(Register::RSP, known);
    }

    fn top(&self) -> Option<i64> {
        match self.register(Register::RSP).value {
            Value::Stack(at) => Some(at),
            _ => None,
        }
    }

    /// Goes on by an instruction; whether what follows it in memory also follows in the run.
    fn step(&mut self, instruction: &Instruction) -> bool {
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => {
                CHANGED.iter().for_each(|&register| self.set(register, UNKNOWN));
                return true;
            }
            _ => return false,
        }
        let (to, from) = (instruction.op0_kind(), instruction.op1_kind());
        match instruction.mnemonic() {
            Mnemonic::Push if to == OpKind::Register => {
                let known = self.register(instruction.op0_register());
                self.adjust(-8);
                if let Some(top) = self.top() {
                    self.store(top, known);
                }
            }
            Mnemonic::Pop if to == OpKind::Register => {
                let known = self.top().and_then(|top| self.slots.get(&top).copied()).unwrap_or(UNKNOWN);
                self.adjust(8);
                self.set(instruction.op0_register(), known);
            }
            Mnemonic::Sub | Mnemonic::Add if instruction.op0_register() == Register::RSP => {
                let by = instruction.try_immediate(1).ok().map(|by| by as i64);
                match by {
                    Some(by) if instruction.mnemonic() == Mnemonic::Sub => self.adjust(-by),
                    Some(by) => self.adjust(by),
                    None => self.set(Register::RSP, UNKNOWN),
                }
            }
            Mnemonic::Lea => {
                let slot = self.slot(instruction);
                let known = slot.map_or(UNKNOWN, |at| Known { value: Value::Stack(at), bytes: 8 });
                self.set(instruction.op0_register(), known.narrowed(width(instruction.op0_register())));
            }
            Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd
                if to == OpKind::Register && from == OpKind::Register =>
            {
                let is_general = instruction.op1_register().is_gpr();
                let known = if is_general { self.register(instruction.op1_register()) } else { UNKNOWN };
                self.set(instruction.op0_register(), known.narrowed(width(instruction.op0_register())));
            }
            Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd
                if to == OpKind::Register && from == OpKind::Memory =>
            {
                let known = self.load(instruction);
                self.set(instruction.op0_register(), known);
            }
            Mnemonic::Mov if to == OpKind::Memory && from == OpKind::Register => {
                if let Some(slot) = self.slot(instruction) {
                    let known = self.register(instruction.op1_register());
                    self.store(slot, known);
                }
            }
            // A truth value keeps what it is.
            Mnemonic::And if instruction.code() == Code::And_rm8_imm8 && instruction.immediate8() == 1 => {
                if to == OpKind::Register {
                    let known = self.register(instruction.op0_register()).narrowed(1);
                    self.set(instruction.op0_register(), known);
                }
            }
            Mnemonic::And if instruction.code() == Code::And_AL_imm8 && instruction.immediate8() == 1 => {
                let known = self.register(Register::AL).narrowed(1);
                self.set(Register::AL, known);
            }
            _ => self.other(instruction),
        }
        true
    }

    fn load(&self, instruction: &Instruction) -> Known {
        let bytes = u8::try_from(instruction.memory_size().size()).unwrap_or(0);
        let Some(slot) = self.slot(instruction) else { return UNKNOWN };
        match self.slots.get(&slot) {
            Some(known) => known.narrowed(bytes),
            None if slot >= FRAME => Known { value: Value::Incoming(slot), bytes },
            None => UNKNOWN,
        }
    }

    /// Something that is not understood: what it writes is not known any more.
    fn other(&mut self, instruction: &Instruction) {
        let writes = |access| {
            !matches!(access, OpAccess::None | OpAccess::NoMemAccess | OpAccess::Read | OpAccess::CondRead)
        };
        let info = self.factory.info(instruction);
        let written: Vec<Register> = (info.used_registers().iter())
            .filter(|used| writes(used.access()))
            .map(|used| used.register().full_register())
            .collect();
        let to_memory = info.used_memory().iter().any(|used| writes(used.access()));
        for register in written {
            self.set(register, UNKNOWN);
        }
        if let Some(slot) = self.slot(instruction).filter(|_| to_memory) {
            self.store(slot, UNKNOWN);
        }
    }
}

fn width(register: Register) -> u8 {
    u8::try_from(register.size()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    fn decoded(code: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).iter().collect()
    }

    /// Without optimisation: `rdi` goes to its place by way of another, around a call; `sil` is a truth value; `rdx` is kept nowhere.
    const PLAIN: &[u8] = &[
        0x55, // push rbp
        0x48, 0x89, 0xe5, // mov rbp, rsp
        0x48, 0x83, 0xec, 0x40, // sub rsp, 0x40
        0x48, 0x89, 0x7d, 0xc8, // mov [rbp - 0x38], rdi
        0x40, 0x88, 0xf0, // mov al, sil
        0x24, 0x01, // and al, 1
        0x88, 0x45, 0xf7, // mov [rbp - 9], al
        0x48, 0x8b, 0x7d, 0x08, // mov rdi, [rbp + 8]
        0xe8, 0, 0, 0, 0, // call
        0x48, 0x8b, 0x7d, 0xc8, // mov rdi, [rbp - 0x38]
        0x48, 0x89, 0x7d, 0xe8, // mov [rbp - 0x18], rdi
        0x48, 0xc7, 0x45, 0xe0, 1, 0, 0, 0, // mov qword ptr [rbp - 0x20], 1
        0xc3,
    ];

    #[test]
    fn stores_of_the_first_block_say_where_arguments_were() {
        let code = decoded(PLAIN);
        let at = |offset, size| {
            let base = FrameBase::Register(Register::RBP);
            place(&code, base, &Locations::Always(Location::Frame(offset)), size)
        };
        assert_eq!(at(-0x18, 8), Ok(Place::Register(Register::RDI)));
        assert_eq!(at(-9, 1), Ok(Place::Register(Register::RSI)));
        // More of it than was stored.
        assert_eq!(at(-9, 4), Err(NoPlace::Unclear));
        // Something else, and nothing at all.
        assert_eq!(at(-0x20, 8), Err(NoPlace::Unclear));
        assert_eq!(at(-0x28, 8), Err(NoPlace::Removed));
        // Above the return address.
        assert_eq!(at(0x18, 4), Ok(Place::Stack(0x10)));
        let by_frame = place(&code, FrameBase::Frame, &Locations::Always(Location::Frame(-0x28)), 8);
        assert_eq!(by_frame, Ok(Place::Register(Register::RDI)));
    }

    #[test]
    fn lists_count_from_the_first_instruction() {
        // mov rbx, rdi; mov edi, 1; nop
        let code = decoded(&[0x48, 0x89, 0xfb, 0xbf, 1, 0, 0, 0, 0x90]);
        let of = |list: &[(u64, u64, Location)]| {
            place(&code, FrameBase::Frame, &Locations::List(list.to_vec()), 8)
        };
        let register = Location::Register;
        assert_eq!(of(&[(0x1000, 0x1003, register(Register::RDI))]), Ok(Place::Register(Register::RDI)));
        assert_eq!(of(&[(0x1003, 0x1009, register(Register::RBX))]), Ok(Place::Register(Register::RDI)));
        // By then it is something else.
        assert_eq!(of(&[(0x1008, 0x1009, register(Register::RDI))]), Err(NoPlace::Unclear));
        assert_eq!(of(&[(0x1000, 0x1009, Location::Constant)]), Err(NoPlace::Constant));
        assert_eq!(of(&[(0x1000, 0x1009, Location::Frame(8))]), Ok(Place::Stack(0x10)));
        assert_eq!(of(&[(0x1000, 0x1009, Location::Frame(-16))]), Err(NoPlace::Unclear));
        assert_eq!(of(&[]), Err(NoPlace::Removed));
    }
}
