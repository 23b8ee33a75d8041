//! How most functions are wrapped that hand over from thread to thread without a descriptor.

/// Functions `C name (arguments)` that give to an object before they are called.
macro_rules! givers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty, $object:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> $result {
            $($crate::c_library::given::Argument::before($arg, pc);)*
            $crate::recorder::edges::release_edge($object, pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!($real, ($($ty),*) -> $result, $($arg),*) };
            $($crate::c_library::given::Argument::after($arg, pc);)*
            result
        })*
    };
}

/// Functions that get from an object, if they succeed.
macro_rules! takers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty, $object:expr, if $success:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> $result {
            $($crate::c_library::given::Argument::before($arg, pc);)*
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!($real, ($($ty),*) -> $result, $($arg),*) };
            let success: fn($result) -> bool = $success;
            if success(result) {
                $crate::c_library::channels::takes_from($object, pc);
                $($crate::c_library::given::Argument::after($arg, pc);)*
            }
            result
        })*
    };
}

pub(crate) use givers;
pub(crate) use takers;
