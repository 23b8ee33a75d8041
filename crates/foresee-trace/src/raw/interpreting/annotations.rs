//! What the program says itself, and what is recorded of its calls for properties: named events, operations of concurrent structures, locals, atomic blocks, names of locks and variables, values.
//!
//! Texts and arguments come in front of the record that takes them, in the same thread. Whatever takes a name takes all that has
//! come, so nothing is left over for the next one.

use foresee_format::{
    ARG_INT, ARG_OBJECT, ARG_STR, OperationStep, RETURNED, TEXT_ENDS, TEXT_PIECE, Tag, UNSETTLED, letters,
};

use super::naming::Naming;
use crate::event::{Arg, Mem, Op};
use crate::ids::StrId;
use crate::raw::merging::Record;
use crate::thread_table::ThreadTable;

/// What each thread has said so far.
#[derive(Default)]
pub(crate) struct Annotations {
    said: ThreadTable<u64, Said>,
    /// The arguments of the last event.
    args: Vec<Arg>,
    /// What is recorded of calls, by the numbers of hooks.
    hooks: Vec<Hook>,
}

/// What a hook records.
struct Hook {
    /// The names of the parameters that have values.
    parameters: StrId,
    function: StrId,
}

#[derive(Default)]
struct Said {
    /// The pieces of a text that has not ended.
    piece: Vec<u8>,
    texts: Vec<StrId>,
    args: Vec<(u8, u64)>,
    /// The atomic blocks that the thread is in.
    blocks: Vec<StrId>,
    /// The operation that was called last.
    operation: Option<StrId>,
}

impl Said {
    fn text(&mut self, naming: &mut Naming, record: &Record) {
        let bytes: Vec<u8> = record.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let len = usize::from(record.detail & !TEXT_ENDS).min(TEXT_PIECE);
        self.piece.extend(bytes.iter().take(len));
        if record.detail & TEXT_ENDS != 0 {
            let text: String = letters(&self.piece).collect();
            self.texts.push(naming.names.intern(&text));
            self.piece.clear();
        }
    }

    /// The last text, which is the name: those of arguments come before it.
    fn name(&mut self) -> Option<StrId> {
        let name = self.texts.pop();
        self.texts.clear();
        self.args.clear();
        name
    }

    fn args(&mut self) -> Vec<Arg> {
        let mut texts = self.texts.iter();
        let arg = |&(kind, value): &(u8, u64)| match kind {
            ARG_INT => Some(Arg::Int(value as i64)),
            ARG_OBJECT => Some(Arg::Object(value)),
            ARG_STR => Some(Arg::Str(texts.next().copied()?)),
            _ => None,
        };
        self.args.iter().filter_map(arg).collect()
    }
}

impl Annotations {
    /// What hooks record: the names of parameters, and the function.
    pub(crate) fn learn_calls(&mut self, naming: &mut Naming, calls: &[[String; 2]]) {
        let mut id = |text: &String| naming.names.intern(text);
        self.hooks = calls
            .iter()
            .map(|[parameters, function]| Hook { parameters: id(parameters), function: id(function) })
            .collect();
    }

    /// The operation that this record says is done; `None` if it prepares another, or only names something.
    pub(crate) fn interpret(
        &mut self,
        naming: &mut Naming,
        thread: u64,
        record: &Record,
    ) -> Option<Op<'static>> {
        let said = self.said.entry(thread);
        let [_, addr, third, _] = record.words;
        let object = Mem { addr, size: u32::try_from(third).unwrap_or(u32::MAX) };
        let accessed = Mem { addr, size: u32::from(record.detail & !UNSETTLED) };
        let value = (record.detail & UNSETTLED == 0 && accessed.size <= 8).then_some(third);
        match record.tag {
            Tag::Text => said.text(naming, record),
            Tag::Arg => said.args.push((record.detail, record.words[0])),
            Tag::Named => {
                self.args = said.args();
                return Some(Op::Named { name: said.name()?, args: &[] });
            }
            Tag::Call => {
                let mut args = said.args();
                said.args.clear();
                said.texts.clear();
                let &Hook { parameters, function } = self.hooks.get(usize::try_from(addr).ok()?)?;
                let returns = record.detail == RETURNED;
                // A result comes first, and alone if there is nothing else.
                let before = usize::from(returns).min(args.len());
                if !returns || args.len() > before {
                    args.insert(before, Arg::Str(parameters));
                }
                self.args = args;
                return Some(match returns {
                    true => Op::Result { function, args: &[] },
                    false => Op::Arguments { function, args: &[] },
                });
            }
            Tag::Operation => {
                let step = OperationStep::ALL.get(usize::from(record.detail))?;
                if let OperationStep::Call | OperationStep::Return = step {
                    self.args = said.args();
                    let name = said.name()?;
                    said.operation = Some(name);
                    return Some(match step {
                        OperationStep::Call => Op::Call { name, args: &[] },
                        _ => Op::Return { name, args: &[] },
                    });
                }
                let name = said.operation.unwrap_or_else(|| naming.names.intern(""));
                return Some(match step {
                    OperationStep::CommitBegin => Op::CommitBegin { name },
                    OperationStep::CommitEnd => Op::CommitEnd { name },
                    _ => Op::Commit { name },
                });
            }
            Tag::Local => return Some(Op::Local { name: said.name()?, value: addr }),
            Tag::BlockBegin => {
                let name = said.name()?;
                said.blocks.push(name);
                return Some(Op::BlockBegin { name });
            }
            Tag::BlockEnd => return Some(Op::BlockEnd { name: said.blocks.pop()? }),
            Tag::NameLock => naming.name_lock(object, said.name()?),
            Tag::NameVariable => naming.name_variable(object, said.name()?),
            Tag::ReadValue => return Some(Op::Read { mem: accessed, value }),
            Tag::WriteValue => return Some(Op::Write { mem: accessed, value }),
            _ => {}
        }
        None
    }

    /// Blocks that have begun are not to end: their beginnings are not in the trace.
    pub(crate) fn forget_blocks(&mut self) {
        self.said.values_mut().for_each(|said| said.blocks.clear());
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, thread: u64) {
        self.said.remove(thread);
    }

    /// The arguments of the event that was interpreted last.
    pub(crate) fn args(&self) -> &[Arg] {
        &self.args
    }
}
