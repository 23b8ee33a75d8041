//! Order that goes through the system: pipes, sockets, other processes.

use std::io::{Read, Write, pipe};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("pipes", pipes),
    ("unix", unix),
    ("tcp", tcp),
    ("udp", udp),
    ("commands", commands),
    ("files", files),
    ("options", options),
    ("file_locks", file_locks),
    ("addresses", addresses),
    ("environment", environment),
    ("hook", hook),
];

/// An address can be taken only once its owner has given it up.
fn addresses() {
    let owner = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = owner.local_addr().unwrap();
    let value = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            drop(owner);
        });
        scope.spawn(|| {
            while TcpListener::bind(address).is_err() {
                thread::yield_now();
            }
            assert_eq!(value.get(), 1);
        });
    });
}

/// The library has a lock for the environment.
fn environment() {
    let value = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            // SAFETY: only Rust's library uses the environment here.
            unsafe { std::env::set_var("IS_READY", "1") };
        });
        scope.spawn(|| {
            while std::env::var_os("IS_READY").is_none() {
                thread::yield_now();
            }
            assert_eq!(value.get(), 1);
        });
    });
}

/// And one for what is called when a thread panics.
fn hook() {
    let is_set = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_set.load(Relaxed) {
                thread::yield_now();
            }
            std::panic::catch_unwind(|| panic!("as it should")).unwrap_err();
        });
        let names = vec![String::from("first"), String::from("second")];
        std::panic::set_hook(Box::new(move |_| assert_eq!(names[1], "second")));
        is_set.store(true, Relaxed);
    });
    std::panic::set_hook(Box::new(|_| ()));
}

/// What is set of a socket is seen by who asks for it.
fn options() {
    let socket = &UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let value = &Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            value.set(1);
            socket.set_ttl(7).unwrap();
        });
        scope.spawn(move || {
            while socket.ttl().unwrap() != 7 {
                thread::yield_now();
            }
            assert_eq!(value.get(), 1);
        });
    });
}

/// Who does not get a lock of a file knows that another has it.
fn file_locks() {
    let path = std::env::temp_dir().join(format!("foresee-programs-{}.lock", std::process::id()));
    let [first, second] = [(), ()].map(|()| std::fs::File::create(&path).unwrap());
    let value = &Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            value.set(1);
            first.lock().unwrap();
            std::mem::forget(first);
        });
        scope.spawn(move || {
            while second.try_lock().is_ok() {
                second.unlock().unwrap();
                thread::yield_now();
            }
            assert_eq!(value.get(), 1);
        });
    });
    std::fs::remove_file(path).unwrap();
}

fn handed_over(mut from: impl Write + Send, mut to: impl Read + Send) {
    let value = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            from.write_all(&[1]).unwrap();
        });
        scope.spawn(|| {
            to.read_exact(&mut [0]).unwrap();
            assert_eq!(value.get(), 1);
        });
    });
}

fn pipes() {
    let (reader, writer) = pipe().unwrap();
    handed_over(writer, reader);
}

fn unix() {
    let (one, other) = UnixStream::pair().unwrap();
    handed_over(one.try_clone().unwrap(), other.try_clone().unwrap());
    handed_over(other, one);
}

fn tcp() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let one = TcpStream::connect(address).unwrap();
    let (other, _) = listener.accept().unwrap();
    handed_over(one, other);
}

fn udp() {
    let receiver = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let address = receiver.local_addr().unwrap();
    let value = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let sender = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
            value.set(1);
            sender.send_to(&[1], address).unwrap();
        });
        scope.spawn(|| {
            receiver.recv_from(&mut [0; 4]).unwrap();
            assert_eq!(value.get(), 1);
        });
    });
}

fn commands() {
    thread::scope(|scope| {
        for i in 0..3 {
            scope.spawn(move || {
                let output = Command::new("echo").arg(i.to_string()).output().unwrap();
                assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), i.to_string());
                let mut child =
                    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
                child.stdin.take().unwrap().write_all(b"text").unwrap();
                assert!(child.wait().unwrap().success());
            });
        }
    });
}

fn files() {
    let path = std::env::temp_dir().join(format!("foresee-programs-{}", std::process::id()));
    thread::scope(|scope| {
        for i in 0..3 {
            let path = path.with_extension(i.to_string());
            scope.spawn(move || {
                std::fs::write(&path, "text").unwrap();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
                std::fs::remove_file(&path).unwrap();
            });
        }
    });
}
