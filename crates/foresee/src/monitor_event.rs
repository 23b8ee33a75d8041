//! The parts of `event!` and `local!` that are for the monitors in the program.

/// Hands an event to the monitors of the program that want it; its arguments are evaluated only if there are any.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "monitor")]
macro_rules! __monitor_event {
    ([$name:expr] $($value:expr,)*) => {{
        static __FORESEE_SITE: $crate::monitor_private::Site<
            { <[&str]>::len(&[$(::core::stringify!($value)),*]) },
        > = $crate::monitor_private::Site::new($name);
        if __FORESEE_SITE.is_wanted() {
            __FORESEE_SITE.event([$($crate::monitor_private::Key::of($value)),*]);
        }
    }};
}

/// Without the feature `monitor` there are no monitors.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "monitor"))]
macro_rules! __monitor_event {
    ([$name:expr] $($value:expr,)*) => {
        if false {
            let _: &str = $name;
            $(let _ = $crate::IntoArg::into_arg($value);)*
        }
    };
}

/// Hands an assignment to the monitors of the program; the value is evaluated only if there are any.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "monitor")]
macro_rules! __monitor_local {
    ($name:expr, $value:expr) => {{
        static __FORESEE_SITE: $crate::monitor_private::LocalSite =
            $crate::monitor_private::LocalSite::new($name);
        if __FORESEE_SITE.is_wanted() {
            __FORESEE_SITE.assign($value);
        }
    }};
}

/// Without the feature `monitor` there are no monitors.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "monitor"))]
macro_rules! __monitor_local {
    ($name:expr, $value:expr) => {
        if false {
            let _: (&str, u64) = ($name, $value);
        }
    };
}
