//! What is in registers and in the frame at a point of a function, and what instructions do to it.

use std::collections::BTreeMap;

use iced_x86::{Code, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory};

use rustc_hash::{FxHashMap, FxHashSet};

use super::file_code::{Callee, FileCode};
use super::values::{Place, Unknown, Value, Values};

const REGISTERS: usize = 16;
/// Registers that calls do not preserve.
const LOST: [Register; 9] = [
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

/// A memory access of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) address: Value,
    /// 0 if it is not known.
    pub(super) size: u64,
    pub(super) writes: bool,
}

/// What an address is computed from.
struct AddressParts {
    base: Register,
    index: Register,
    scale: u32,
    displacement: u64,
}

/// What is where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    registers: [Value; REGISTERS],
    /// What is in the frame, as far as it is 8 or 4 bytes and known; by what varies of its address, and the offset.
    slots: BTreeMap<(Value, i64), (u64, Value)>,
}

impl State {
    /// Nothing is known any more of what is in the frame, but for what is at constant distances from this.
    pub(super) fn forget_frame(&mut self, except: Option<Value>) {
        self.slots.retain(|&(varying, _), _| Some(varying) == except);
    }
}

/// Interprets instructions.
pub(super) struct Interpreter<'a> {
    pub(super) values: Values,
    /// Values that are known to have no bits beyond the lowest 32.
    short: FxHashSet<Value>,
    /// What calls returned.
    results: FxHashSet<Value>,
    code: &'a FileCode,
    /// Where addresses in the code are relative to.
    image: Value,
    factory: InstructionInfoFactory,
}

fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

impl<'a> Interpreter<'a> {
    /// Of the code of a file.
    pub(super) fn new(code: &'a FileCode) -> Interpreter<'a> {
        let mut values = Values::default();
        let image = if code.is_relocatable() { values.unknown(Unknown::Image) } else { values.constant(0) };
        Interpreter {
            values,
            code,
            image,
            short: FxHashSet::default(),
            results: FxHashSet::default(),
            factory: InstructionInfoFactory::new(),
        }
    }

    /// Where the stack pointer is when a function begins.
    pub(super) fn frame(&mut self) -> Value {
        self.values.frame(Unknown::Given(Register::RSP.number() as u8))
    }

    /// The state in which a function begins.
    pub(super) fn entry(&mut self) -> State {
        let registers = std::array::from_fn(|register| {
            if register == Register::RSP.number() {
                self.frame()
            } else {
                self.values.unknown(Unknown::Given(register as u8))
            }
        });
        State { registers, slots: BTreeMap::new() }
    }

    /// The same at another point of it; `has_pointer` if it has its frame in the register for that.
    pub(super) fn within(&mut self, has_pointer: bool) -> State {
        let mut state = self.entry();
        if has_pointer {
            let pointer = Register::RBP.number();
            state.registers[pointer] = self.values.frame(Unknown::Given(pointer as u8));
        }
        state
    }

    /// The address in the file that a value is, or is counted from: that of an array, for an element.
    pub(super) fn address_in_file(&mut self, value: Value) -> Option<u64> {
        let (_, offset) = self.values.split(value);
        self.values.has(value, self.image).then_some(offset.cast_unsigned())
    }

    /// What is in a register.
    pub(super) fn register(&self, state: &State, register: Register) -> Option<Value> {
        Some(state.registers[number(register)?])
    }

    /// The address that an instruction computes from these parts, if they are known.
    fn address(&mut self, state: &State, one: &Instruction, parts: &AddressParts) -> Option<Value> {
        if one.is_ip_rel_memory_operand() && matches!(parts.base, Register::RIP | Register::None) {
            return Some(self.values.plus(self.image, one.ip_rel_memory_address().cast_signed()));
        }
        let mut sum = self.values.constant(parts.displacement.cast_signed());
        if parts.base != Register::None {
            let base = self.register(state, parts.base)?;
            sum = self.values.sum(sum, base, 1);
        }
        if parts.index != Register::None {
            let index = self.register(state, parts.index)?;
            sum = self.values.sum(sum, index, parts.scale.into());
        }
        Some(sum)
    }

    /// The memory that an instruction accesses, other than the thread's own by segment; an address that is not known is none of the others.
    pub(super) fn accesses(&mut self, state: &State, one: &Instruction) -> Vec<Access> {
        let used: Vec<UsedMemory> = self.factory.info(one).used_memory().to_vec();
        let mut found = Vec::new();
        for used in used {
            let writes = match used.access() {
                OpAccess::Read | OpAccess::CondRead => false,
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => true,
                OpAccess::None | OpAccess::NoMemAccess => continue,
            };
            if matches!(used.segment(), Register::FS | Register::GS) {
                continue;
            }
            let unknown = Unknown::Made(one.ip(), u32::MAX - found.len() as u32);
            let parts = AddressParts {
                base: used.base(),
                index: used.index(),
                scale: used.scale(),
                displacement: used.displacement(),
            };
            let address = match self.address(state, one, &parts) {
                Some(address) => address,
                None => self.values.unknown(unknown),
            };
            let mut size = used.memory_size().size() as u64;
            if one.has_rep_prefix() || one.has_repne_prefix() {
                let count = self.values.as_constant(state.registers[Register::RCX.number()]);
                size = count.map_or(0, |count| size.wrapping_mul(count.cast_unsigned()));
            }
            found.push(Access { address, size, writes });
        }
        found
    }

    /// A call changes what it does not preserve.
    pub(super) fn call(&mut self, state: &mut State, at: u64) {
        for register in LOST {
            let number = register.number();
            state.registers[number] = self.values.unknown(Unknown::Made(at, number as u32));
        }
        for register in [Register::RAX, Register::RDX] {
            self.results.insert(state.registers[register.number()]);
        }
    }

    /// Whether an instruction stores what a call returned.
    pub(super) fn stores_result(&self, state: &State, one: &Instruction) -> bool {
        let stores = one.mnemonic() == Mnemonic::Mov && one.op1_kind() == OpKind::Register;
        let stored = self.register(state, one.op1_register()).filter(|_| stores);
        stored.is_some_and(|value| self.results.contains(&value))
    }

    /// What an operand is, if it is a register, a constant, or something in the frame that is known.
    fn operand(&mut self, state: &State, one: &Instruction, nth: u32) -> Option<Value> {
        match one.op_kind(nth) {
            OpKind::Register => {
                let register = one.op_register(nth);
                let value = self.register(state, register)?;
                if register.is_gpr64() {
                    return Some(value);
                }
                Some(self.part(value, register.size() as u32))
            }
            OpKind::Memory => {
                let size = one.memory_size().size() as u64;
                let address = self.memory_operand(state, one)?;
                let (varying, offset) = self.values.split(address);
                if let Some(&(known, value)) = state.slots.get(&(varying, offset)) {
                    return (known == size).then_some(value);
                }
                // What never changes is the same whenever it is loaded.
                let in_file = self.address_in_file(address)?;
                if size != 8 || !self.code.is_constant(in_file) {
                    return None;
                }
                // The loader puts addresses of the file there.
                Some(match self.code.slot(in_file) {
                    Callee::Here(at) => self.values.plus(self.image, at.cast_signed()),
                    _ => self.values.unknown(Unknown::Result(LOADED, vec![address])),
                })
            }
            _ => Some(self.values.constant(immediate(one, nth)?)),
        }
    }

    /// The last bytes of a value.
    fn part(&mut self, value: Value, size: u32) -> Value {
        if size == 4 && self.short.contains(&value) {
            return value;
        }
        let part = match self.values.as_constant(value) {
            Some(constant) if size == 4 => self.values.constant((constant as u32).into()),
            _ => self.values.unknown(Unknown::Result(0x1_0000 + size, vec![value])),
        };
        if size == 4 {
            self.short.insert(part);
        }
        part
    }

    /// The address of the memory operand, unless it is in the thread's own memory.
    fn memory_operand(&mut self, state: &State, one: &Instruction) -> Option<Value> {
        if matches!(one.memory_segment(), Register::FS | Register::GS) {
            return None;
        }
        let parts = AddressParts {
            base: one.memory_base(),
            index: one.memory_index(),
            scale: one.memory_index_scale(),
            displacement: one.memory_displacement64(),
        };
        self.address(state, one, &parts)
    }

    /// What an instruction puts into its first operand, if that can be said.
    fn result(&mut self, state: &State, one: &Instruction) -> Option<Value> {
        use Mnemonic as M;
        let binary = |this: &mut Self| {
            let left = this.operand(state, one, 0)?;
            Some((left, this.operand(state, one, 1)?))
        };
        let exact = match one.mnemonic() {
            M::Mov => self.operand(state, one, 1)?,
            M::Lea => self.memory_operand(state, one)?,
            M::Add => {
                let (left, right) = binary(self)?;
                self.values.sum(left, right, 1)
            }
            M::Sub => {
                let (left, right) = binary(self)?;
                self.values.sum(left, right, -1)
            }
            M::Xor
                if one.op0_kind() == OpKind::Register
                    && one.op1_kind() == OpKind::Register
                    && one.op0_register() == one.op1_register() =>
            {
                self.values.constant(0)
            }
            M::Inc => {
                let left = self.operand(state, one, 0)?;
                self.values.plus(left, 1)
            }
            M::Dec => {
                let left = self.operand(state, one, 0)?;
                self.values.plus(left, -1)
            }
            M::Neg => {
                let (zero, of) = (self.values.constant(0), self.operand(state, one, 0)?);
                self.values.sum(zero, of, -1)
            }
            M::Shl => {
                let (left, right) = binary(self)?;
                let times = 1_i64.checked_shl(u32::try_from(self.values.as_constant(right)?).ok()?)?;
                let zero = self.values.constant(0);
                self.values.sum(zero, left, times)
            }
            M::Imul if one.op_count() == 3 => {
                let left = self.operand(state, one, 1)?;
                let times = immediate(one, 2)?;
                let zero = self.values.constant(0);
                self.values.sum(zero, left, times)
            }
            M::Movsxd | M::Movsx | M::Movzx => {
                let from = self.operand(state, one, 1)?;
                self.values.unknown(Unknown::Result(sign_extension(one), vec![from]))
            }
            M::And | M::Or | M::Xor | M::Shr | M::Sar => {
                let (left, right) = binary(self)?;
                let result = Unknown::Result(one.mnemonic() as u32, vec![left, right]);
                // The frame of a function that aligns it.
                if one.mnemonic() == M::And && self.values.is_in_frame(left) {
                    self.values.frame(result)
                } else {
                    self.values.unknown(result)
                }
            }
            _ => return None,
        };
        let size = if one.op0_kind() == OpKind::Register { one.op0_register().size() } else { 8 };
        match size {
            8 => Some(exact),
            4 => Some(self.part(exact, 4)),
            _ => None,
        }
    }

    /// The state after an instruction that is no call.
    pub(super) fn step(&mut self, state: &mut State, one: &Instruction) {
        use Mnemonic as M;
        let result = self.result(state, one);
        let sign_extends = matches!(one.code(), Code::Cdqe);
        let extended = sign_extends.then(|| {
            let rax = state.registers[Register::RAX.number()];
            let low = self.part(rax, 4);
            self.values.unknown(Unknown::Result(SIGN_EXTENDED_4, vec![low]))
        });
        let pushed = if one.mnemonic() == M::Push { self.operand(state, one, 0) } else { None };
        let popped = (one.mnemonic() == M::Pop).then(|| self.top(state)).flatten();
        let stored = if one.op_count() == 2 && one.mnemonic() == M::Mov && one.op0_kind() == OpKind::Memory {
            self.operand(state, one, 1)
        } else {
            None
        };
        let frame =
            if one.mnemonic() == M::Leave { Some(state.registers[Register::RBP.number()]) } else { None };
        let accesses = self.accesses(state, one);
        let stack_before = state.registers[Register::RSP.number()];
        let written: Vec<Register> = {
            let used = self.factory.info(one).used_registers();
            let writes = used.iter().filter(|used| {
                !matches!(
                    used.access(),
                    OpAccess::None | OpAccess::NoMemAccess | OpAccess::Read | OpAccess::CondRead
                )
            });
            writes.map(|used| used.register()).collect()
        };
        for register in written {
            if let Some(number) = number(register) {
                state.registers[number] = self.values.unknown(Unknown::Made(one.ip(), number as u32));
            }
        }
        for access in accesses.iter().filter(|access| access.writes) {
            self.overwrite(state, access);
        }
        match one.mnemonic() {
            M::Push => {
                let top = self.values.plus(stack_before, -8);
                state.registers[Register::RSP.number()] = top;
                self.keep(state, top, 8, pushed);
            }
            M::Pop => {
                if let (Some(number), Some(value)) = (number(one.op0_register()), popped) {
                    state.registers[number] = value;
                }
                state.registers[Register::RSP.number()] = self.values.plus(stack_before, 8);
            }
            M::Leave => {
                if let Some(frame) = frame {
                    state.registers[Register::RSP.number()] = self.values.plus(frame, 8);
                }
            }
            _ => {}
        }
        if let Some(result) = result.or(extended) {
            let register = if sign_extends { Register::RAX } else { one.op0_register() };
            match number(register) {
                Some(number) if sign_extends || one.op0_kind() == OpKind::Register => {
                    state.registers[number] = result;
                }
                _ => {}
            }
        }
        if let Some(access) = accesses.iter().find(|access| access.writes && stored.is_some()) {
            self.keep(state, access.address, access.size, stored);
        }
        // What is loaded from the frame is the same when it is loaded again.
        let loads = one.mnemonic() == M::Mov && one.op1_kind() == OpKind::Memory && result.is_none();
        if let (true, Some(access), Some(number)) = (loads, accesses.first(), number(one.op0_register())) {
            let loaded = state.registers[number];
            if access.size == 4 {
                self.short.insert(loaded);
            }
            let whole = one.op0_register().size() as u64 == access.size;
            self.keep(state, access.address, access.size, whole.then_some(loaded));
        }
    }

    fn top(&mut self, state: &State) -> Option<Value> {
        let (varying, offset) = self.values.split(state.registers[Register::RSP.number()]);
        state.slots.get(&(varying, offset)).filter(|(size, _)| *size == 8).map(|&(_, value)| value)
    }

    /// Forgets what was where something is written.
    fn overwrite(&mut self, state: &mut State, access: &Access) {
        if !self.values.is_in_frame(access.address) {
            return;
        }
        let (varying, offset) = self.values.split(access.address);
        let size = if access.size == 0 { i64::MAX / 2 } else { access.size.cast_signed() };
        state.slots.retain(|&(known, at), &mut (length, _)| {
            known == varying && (at >= offset.saturating_add(size) || at + length.cast_signed() <= offset)
                || known != varying && access.size > 0 && access.size <= 16
        });
    }

    fn keep(&mut self, state: &mut State, address: Value, size: u64, value: Option<Value>) {
        if let Some(value) = value
            && self.values.is_in_frame(address)
            && matches!(size, 4 | 8)
        {
            let key = self.values.split(address);
            state.slots.insert(key, (size, value));
        }
    }

    /// What is known where these states, of which there is at least one, come together, at the beginning of a block.
    pub(super) fn meet(&mut self, block: usize, states: &[&State]) -> State {
        let Some((&first, others)) = states.split_first() else { return self.entry() };
        if others.iter().all(|other| *other == first) {
            return first.clone();
        }
        let mut places: Vec<(Place, Vec<Value>)> = (0..REGISTERS)
            .map(|number| {
                (Place::Register(number), states.iter().map(|state| state.registers[number]).collect())
            })
            .collect();
        for (&(varying, offset), &(size, _)) in &first.slots {
            let same = |state: &&State| {
                state.slots.get(&(varying, offset)).filter(|(known, _)| *known == size).map(|slot| slot.1)
            };
            let incoming: Option<Vec<Value>> = states.iter().map(same).collect();
            places.extend(incoming.map(|incoming| (Place::Slot(varying, offset), incoming)));
        }
        let mut met = State { registers: first.registers, slots: BTreeMap::new() };
        for (place, value) in self.meet_places(block, places) {
            match place {
                Place::Register(number) => met.registers[number] = value,
                Place::Slot(varying, offset) => {
                    let size = first.slots[&(varying, offset)].0;
                    met.slots.insert((varying, offset), (size, value));
                }
            }
        }
        met
    }

    /// What is in places at the beginning of a block, by what comes in. What differs is a new unknown; but where all that comes in differs
    /// from the first by the same, times a constant, as what it does elsewhere, it stays that much of the other's unknown: an
    /// index, and the address that steps through an array with it.
    fn meet_places(&mut self, block: usize, places: Vec<(Place, Vec<Value>)>) -> Vec<(Place, Value)> {
        let mut met = Vec::with_capacity(places.len());
        let mut differing = Vec::new();
        for (place, incoming) in places {
            if incoming.iter().all(|&value| value == incoming[0]) {
                met.push((place, incoming[0]));
                continue;
            }
            if incoming.len() > COMPARED {
                met.push((place, self.met(block, place, &incoming)));
                continue;
            }
            let steps: Vec<Value> =
                incoming[1..].iter().map(|&value| self.values.sum(value, incoming[0], -1)).collect();
            let times = self.values.divisor(&steps);
            let steps: Vec<Value> = steps.iter().map(|&step| self.values.divided(step, times)).collect();
            differing.push((times.unsigned_abs(), times, steps, place, incoming));
        }
        // The smallest step comes first: the others are multiples of it.
        differing.sort_by_key(|&(size, ..)| size);
        let mut groups: FxHashMap<Vec<Value>, (Value, Value, i64)> = FxHashMap::default();
        for (_, times, steps, place, incoming) in differing {
            let of_group = groups.get(&steps).copied().and_then(|(unknown, first, one)| {
                let times = (times.checked_rem(one) == Some(0)).then(|| times.wrapping_div(one))?;
                let apart = self.values.sum(incoming[0], first, times.wrapping_neg());
                Some(self.values.sum(apart, unknown, times))
            });
            let in_frame = self.are_in_frame(&incoming);
            let of_group = of_group.filter(|&value| self.values.is_in_frame(value) == in_frame);
            let value = of_group.unwrap_or_else(|| {
                let unknown = self.met(block, place, &incoming);
                groups.entry(steps).or_insert((unknown, incoming[0], times));
                unknown
            });
            met.push((place, value));
        }
        met
    }

    fn are_in_frame(&self, values: &[Value]) -> bool {
        values.iter().all(|&value| self.values.is_in_frame(value))
    }

    /// The unknown that stands for what comes into a place.
    fn met(&mut self, block: usize, place: Place, incoming: &[Value]) -> Value {
        let unknown = Unknown::Met(block, place);
        if self.are_in_frame(incoming) { self.values.frame(unknown) } else { self.values.unknown(unknown) }
    }
}

/// Where more ways meet than this, what differs is not compared: it is where what many calls threw is caught.
const COMPARED: usize = 8;

/// The operation that loads what never changes.
const LOADED: u32 = 0x5_0000;
const SIGN_EXTENDED_4: u32 = 0x2_0000;

/// Which extension of a value this is: `cdqe` does the same as `movsxd`.
fn sign_extension(one: &Instruction) -> u32 {
    let from = match one.op1_kind() {
        OpKind::Register => one.op1_register().size(),
        _ => one.memory_size().size(),
    };
    match (one.mnemonic(), from) {
        (Mnemonic::Movsxd, _) | (Mnemonic::Movsx, 4) => SIGN_EXTENDED_4,
        (Mnemonic::Movzx, from) => 0x3_0000 + from as u32,
        (_, from) => 0x4_0000 + from as u32,
    }
}

fn immediate(one: &Instruction, nth: u32) -> Option<i64> {
    one.try_immediate(nth).ok().map(u64::cast_signed)
}
