//! Annotations of a recorded build: calls of the recorder's C ABI (`sdk.rs` of `foresee-rt`).
//!
//! The recorder notes where it is called from, which must be the user's code. So the macros call it directly (`weak.rs`).

weak! {
    /// What this thread has done so far happens before what follows the next [`happens_after`] of the same token in
    /// another thread.
    ///
    /// For synchronisation that is made by means foresee does not know, such as hardware or a foreign library: call it before
    /// the other thread can notice. The token is any object that both have; only its address counts.
    happens_before<T>(&T) => "foresee_happens_before"
}

weak! {
    /// What other threads had done before their [`happens_before`] of the same token happens before what follows.
    happens_after<T>(&T) => "foresee_happens_after"
}

/// Calls the lock in (or that is) this object by a name: before it is used first.
#[inline]
pub fn name_lock<T: ?Sized>(lock: &T, name: &str) {
    private::name_lock(private::ObjectMemory::new(lock), private::Text::new(name));
}

/// Tells the recorder of closures that are registered: properties that it monitors itself (`foresee run --spec`) call them, too.
#[cfg(feature = "monitor")]
mod closures {
    use core::ffi::{CStr, c_char};
    use core::panic::Location;
    use std::collections::BTreeMap;
    use std::prelude::rust_2024::*;
    use std::sync::{Mutex, PoisonError};

    use super::private::Text;
    use crate::monitor::{Informed, Verdict, call, thread_name};

    /// What the recorder hands back when a closure is to be called.
    pub(crate) struct Registered {
        name: String,
        location: &'static Location<'static>,
    }

    weak! {
        #[allow(unreachable_pub)]
        on_violation(Text<'_>, extern "C-unwind" fn(*const c_char, &'static Registered), &'static Registered) => "foresee_on_violation"
    }

    static ALL: Mutex<BTreeMap<String, &'static Registered>> = Mutex::new(BTreeMap::new());

    inventory::submit! { Informed(register) }

    fn register(name: &str, location: &'static Location<'static>) {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        // It is for as long as the program is: the recorder may call at any time.
        let registered = *all
            .entry(name.to_owned())
            .or_insert_with(|| Box::leak(Box::new(Registered { name: name.to_owned(), location })));
        drop(all);
        on_violation(Text::new(name), recover, registered);
    }

    extern "C-unwind" fn recover(property: *const c_char, registered: &'static Registered) {
        // SAFETY: the recorder gives the name of the property, a text that ends in a zero byte and that it keeps.
        let property = unsafe { CStr::from_ptr(property) }.to_string_lossy();
        let verdict = Verdict {
            property: &property,
            body: None,
            category: "violation",
            thread: &thread_name(),
            location: registered.location,
            bindings: Vec::new(),
        };
        call(&registered.name, &verdict);
    }
}

/// What the macros call.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod private {
    use core::marker::PhantomData;

    use crate::Arg;

    /// A text as the recorder takes it: two arguments in C.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Text<'a> {
        start: *const u8,
        len: usize,
        text: PhantomData<&'a str>,
    }

    impl<'a> Text<'a> {
        #[inline(always)]
        pub fn new(text: &'a str) -> Text<'a> {
            Text { start: text.as_ptr(), len: text.len(), text: PhantomData }
        }
    }

    /// A piece of memory, of which the recorder will read the values: two arguments in C.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct ObjectMemory {
        addr: usize,
        size: usize,
    }

    impl ObjectMemory {
        #[inline(always)]
        pub fn new<T: ?Sized>(object: &T) -> ObjectMemory {
            ObjectMemory { addr: core::ptr::from_ref(object).expose_provenance(), size: size_of_val(object) }
        }

        #[inline(always)]
        pub fn of<T>(place: *const T) -> ObjectMemory {
            ObjectMemory { addr: place.expose_provenance(), size: size_of::<T>() }
        }
    }

    weak! { event(Text<'_>) => "foresee_event" }
    weak! { arg_int(i64) => "foresee_arg_int" }
    weak! { arg_object(*const ()) => "foresee_arg_object" }
    weak! { arg_str(Text<'_>) => "foresee_arg_str" }
    weak! { call(Text<'_>) => "foresee_call" }
    weak! { returned(Text<'_>) => "foresee_return" }
    weak! { commit() => "foresee_commit" }
    weak! { commit_begin() => "foresee_commit_begin" }
    weak! { commit_end() => "foresee_commit_end" }
    weak! { local(Text<'_>, u64) => "foresee_local" }
    weak! { block_begin(Text<'_>) => "foresee_block_begin" }
    weak! { block_end() => "foresee_block_end" }
    weak! { watch(ObjectMemory, Text<'_>) => "foresee_watch" }
    weak! { name_lock(ObjectMemory, Text<'_>) => "foresee_name_lock" }

    /// Hands an argument of the event that follows to the recorder.
    #[inline]
    pub fn argument(arg: Arg<'_>) {
        match arg {
            Arg::Int(value) => arg_int(value),
            Arg::Object(object) => arg_object(object),
            Arg::Str(text) => arg_str(Text::new(text)),
            #[cfg(feature = "monitor")]
            Arg::Id(id) => arg_int(id.number() as i64),
        }
    }

    /// An atomic block that has begun in this thread, and ends with this value.
    pub struct Block(PhantomData<*const ()>);

    impl Block {
        #[inline(always)]
        pub fn begun() -> Block {
            Block(PhantomData)
        }
    }

    impl Drop for Block {
        #[inline(always)]
        fn drop(&mut self) {
            block_end();
        }
    }
}

/// All arguments are evaluated before the first is handed over: they may report events themselves.
#[doc(hidden)]
#[macro_export]
macro_rules! __event {
    ([$name:expr] [$($arg:ident)*]) => {{
        $crate::__recorded_event!($name $(, $arg)*);
        $crate::__monitor_event!([$name] $($arg,)*);
    }};
    ([$name:expr] [$($arg:ident)*] $value:expr, $($rest:expr,)*) => {{
        let arg = $crate::IntoArg::into_arg($value);
        $crate::__event!([$name] [$($arg)* arg] $($rest,)*)
    }};
}

/// Records an event; the monitors learn of it otherwise.
#[doc(hidden)]
#[macro_export]
macro_rules! __recorded_event {
    ($name:expr $(, $arg:ident)*) => {{
        $($crate::private::argument($arg);)*
        $crate::private::event($crate::private::Text::new($name));
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __watch {
    ($name:expr, $place:expr) => {
        $crate::private::watch(
            $crate::private::ObjectMemory::of(&raw const $place),
            $crate::private::Text::new($name),
        )
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __local {
    ($name:expr, $value:expr) => {{
        let value = $crate::IntoLocal::into_local($value);
        $crate::__monitor_local!($name, value);
        $crate::private::local($crate::private::Text::new($name), value)
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __block {
    ($name:expr) => {
        let _block = {
            $crate::private::block_begin($crate::private::Text::new($name));
            $crate::private::Block::begun()
        };
    };
}
