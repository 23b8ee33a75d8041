//! Functions of libstdc++ and libc++ that programs call for their containers, in place of which ours are called, or in front of which ours stand.
//!
//! Most of a container is in headers, and so instrumented with the program. A few functions are in the library, which is not: a map's insertion
//! would change nodes unseen, and no critical section with one could be moved in a prediction. So what these functions access is
//! recorded, if instrumented code calls them.
//!
//! | module | holds |
//! |---|---|
//! | `accesses` | accesses that are recorded and done |
//! | `trees` | red-black trees: `map`, `set` and their kin. Done here, access by access, as which nodes are touched is nothing that could be told from outside |
//! | `lists` | links of `list`. Done here, too |
//! | `locales` | copies of a `locale`, and the global one: counted here, as the last to go is ordered after all others |
//! | `llvm` | owners of what `shared_ptr` shares, and barriers, in libc++ |
//! | `hashing` | when a hash table grows, and hashes of bytes: the library's function, and what it accesses |
//! | `texts` | `string`: the same |
//!
//! What is done here keeps to the layout and the contracts of the library's headers, which are fixed: programs that are linked with any
//! version share trees and lists with code that is compiled without foresee. The names are weak: a program that is linked statically
//! with the library uses the library's own.

mod accesses;
mod hashing;
mod lists;
mod llvm;
mod locales;
mod texts;
mod trees;
