//! Where an observer listens: `7000` (on this machine only), `localhost:7000`, `192.0.2.1:7000` or `unix:/run/foresee.sock`.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

/// An address, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(Vec<SocketAddr>),
    Unix(PathBuf),
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("expected a path after `unix:`".to_owned()),
                path => Ok(Address::Unix(path.into())),
            };
        }
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Address::Tcp(vec![(Ipv4Addr::LOCALHOST, port).into()]));
        }
        match text.to_socket_addrs() {
            Ok(found) => Ok(Address::Tcp(found.collect())),
            Err(why) => Err(format!("`{text}`: expected PORT, HOST:PORT or unix:PATH ({why})")),
        }
    }

    /// Whether only programs of this machine can get there.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Address::Tcp(addresses) => addresses.iter().all(|address| address.ip().is_loopback()),
            Address::Unix(_) => true,
        }
    }

    pub(crate) fn connect(&self, timeout: Duration) -> io::Result<Connection> {
        match self {
            Address::Tcp(addresses) => {
                let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
                for address in addresses {
                    match TcpStream::connect_timeout(address, timeout) {
                        Ok(stream) => return Ok(Connection::Tcp(stream)),
                        Err(why) => failed = why,
                    }
                }
                Err(failed)
            }
            Address::Unix(path) => Ok(Connection::Unix(UnixStream::connect(path)?)),
        }
    }

    pub(crate) fn listen(&self) -> io::Result<Listener> {
        match self {
            Address::Tcp(addresses) => {
                let listener = TcpListener::bind(&addresses[..])?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Tcp(listener))
            }
            Address::Unix(path) => {
                let is_socket = path.symlink_metadata().is_ok_and(|known| known.file_type().is_socket());
                // Nobody listens there any more.
                if is_socket && UnixStream::connect(path).is_err() {
                    std::fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Unix(listener, path.clone()))
            }
        }
    }
}

/// Listens without waiting.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(crate) fn accept(&self) -> io::Result<Connection> {
        let connection = match self {
            Listener::Tcp(listener) => Connection::Tcp(listener.accept()?.0),
            Listener::Unix(listener, _) => Connection::Unix(listener.accept()?.0),
        };
        match &connection {
            Connection::Tcp(stream) => stream.set_nonblocking(false)?,
            Connection::Unix(stream) => stream.set_nonblocking(false)?,
        }
        Ok(connection)
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => address.fmt(f),
                Err(_) => f.write_str("a TCP port"),
            },
            Listener::Unix(_, path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A connection of either kind.
pub(crate) enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connection {
    pub(crate) fn try_clone(&self) -> io::Result<Connection> {
        Ok(match self {
            Connection::Tcp(stream) => Connection::Tcp(stream.try_clone()?),
            Connection::Unix(stream) => Connection::Unix(stream.try_clone()?),
        })
    }

    /// How long reading and writing may take.
    pub(crate) fn limit(&self, reading: Duration, writing: Duration) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(reading))?;
                stream.set_write_timeout(Some(writing))
            }
            Connection::Unix(stream) => {
                stream.set_read_timeout(Some(reading))?;
                stream.set_write_timeout(Some(writing))
            }
        }
    }

    /// Ends it for all who hold it.
    pub(crate) fn close(&self) {
        // It may be closed already.
        let _ = match self {
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Connection::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Connection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.read(into),
            Connection::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_local() {
        let local = |text: &str| Address::parse(text).unwrap().is_local();
        assert!(local("7000") && local("127.0.0.1:7000") && local("[::1]:7000") && local("unix:/tmp/x"));
        assert!(!local("0.0.0.0:7000") && !local("192.0.2.1:7000"));
        assert!(Address::parse("unix:").is_err() && Address::parse("70000").is_err());
    }
}
