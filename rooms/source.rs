//! The modules of a crate as they are written: what each declares, imports and mentions. Nothing is resolved here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, UseTree, Visibility};

/// A path as written, for example `["super", "Event"]`.
pub(crate) type Words = Vec<String>;

#[derive(Default)]
pub(crate) struct Module {
    /// The file it stands in, without `.rs` and relative to the crate's root file; a module with a body in braces has the file of its parent.
    pub(crate) file: String,
    pub(crate) parent: Option<usize>,
    /// There can be several of one name, one for each configuration.
    pub(crate) children: BTreeMap<String, Vec<usize>>,
    /// Types, functions, constants and traits.
    pub(crate) items: BTreeSet<String>,
    /// Macros that it defines, and whether they have `#[macro_export]`, so that they belong to the crate's root.
    pub(crate) macros: BTreeMap<String, bool>,
    pub(crate) imports: Vec<Import>,
    /// All other paths in its code, also those inside of macro calls.
    pub(crate) paths: BTreeSet<Words>,
    /// Macros that it calls by a single name.
    pub(crate) macro_calls: BTreeSet<String>,
}

pub(crate) struct Import {
    pub(crate) path: Words,
    /// What it is called here; `None` for `*`.
    pub(crate) name: Option<String>,
    pub(crate) public: bool,
}

/// The root files of a crate: its library and its programs.
pub(crate) fn roots(folder: &Path) -> Vec<PathBuf> {
    let source = folder.join("src");
    let mut roots = vec![source.join("lib.rs"), source.join("main.rs")];
    roots.extend(
        std::fs::read_dir(source.join("bin")).into_iter().flatten().map(|entry| entry.unwrap().path()),
    );
    roots.retain(|root| root.is_file());
    roots
}

/// All modules of a crate except those for tests. The first is the root.
pub(crate) fn modules(root: &Path) -> Vec<Module> {
    let folder = root.parent().unwrap();
    let mut reader = Reader { base: folder.to_owned(), modules: Vec::new() };
    reader.file(root, None, folder);
    reader.modules
}

struct Reader {
    base: PathBuf,
    modules: Vec<Module>,
}

impl Reader {
    /// `inner` is the folder where the files of its `mod x;` are.
    fn file(&mut self, path: &Path, parent: Option<usize>, inner: &Path) -> usize {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let label = path.strip_prefix(&self.base).unwrap_or(path).with_extension("");
        let label = label.to_str().unwrap();
        let label = label.strip_suffix("/mod").unwrap_or(label).to_owned();
        self.module(&parsed.items, label, parent, inner, path.parent().unwrap())
    }

    fn module(
        &mut self,
        items: &[Item],
        file: String,
        parent: Option<usize>,
        inner: &Path,
        beside: &Path,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module { file: file.clone(), parent, ..Module::default() });
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            if let Item::Mod(declared) = item {
                let name = declared.ident.to_string();
                let inner = inner.join(&name);
                let child = match (&declared.content, path_attribute(&declared.attrs)) {
                    (Some((_, items)), _) => self.module(items, file.clone(), Some(index), &inner, &inner),
                    (None, Some(path)) => self.file(&beside.join(path), Some(index), &inner),
                    (None, None) => {
                        let own = inner.with_extension("rs");
                        let path = if own.exists() { own } else { inner.join("mod.rs") };
                        self.file(&path, Some(index), &inner)
                    }
                };
                self.modules[index].children.entry(name).or_default().push(child);
            } else {
                let module = &mut self.modules[index];
                declare(module, item);
                Mentions(module).visit_item(item);
            }
        }
        index
    }
}

fn declare(module: &mut Module, item: &Item) {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::ForeignMod(block) => {
            for item in &block.items {
                match item {
                    syn::ForeignItem::Fn(item) => module.items.insert(item.sig.ident.to_string()),
                    syn::ForeignItem::Static(item) => module.items.insert(item.ident.to_string()),
                    _ => false,
                };
            }
            return;
        }
        Item::Macro(item) => {
            let exported = item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"));
            module.macros.extend(item.ident.iter().map(|ident| (ident.to_string(), exported)));
            return;
        }
        _ => return,
    };
    module.items.insert(ident.to_string());
}

/// Collects imports and paths.
struct Mentions<'a>(&'a mut Module);

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            let public = !matches!(item.vis, Visibility::Inherited);
            imports(&item.tree, &mut Vec::new(), public, &mut self.0.imports);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.0.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    /// A name in a pattern can be a constant.
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.paths.insert(vec![pattern.ident.to_string()]);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        match call.path.get_ident() {
            Some(name) => drop(self.0.macro_calls.insert(name.to_string())),
            None => self.visit_path(&call.path),
        }
        paths_in(call.tokens.clone(), self.0);
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

fn imports(tree: &UseTree, prefix: &mut Words, public: bool, found: &mut Vec<Import>) {
    let mut import = |last: Option<&syn::Ident>, name: Option<&syn::Ident>| {
        let mut path = prefix.clone();
        let mut name = name.map(ToString::to_string);
        match last.map(ToString::to_string) {
            // `a::{self}` is `a`.
            Some(last) if last == "self" && !path.is_empty() => {
                if name.as_deref() == Some("self") {
                    name = path.last().cloned();
                }
            }
            last => path.extend(last),
        }
        found.push(Import { path, name, public });
    };
    match tree {
        UseTree::Name(leaf) => import(Some(&leaf.ident), Some(&leaf.ident)),
        UseTree::Rename(leaf) => import(Some(&leaf.ident), Some(&leaf.rename)),
        UseTree::Glob(_) => import(None, None),
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            imports(&path.tree, prefix, public, found);
            prefix.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| imports(tree, prefix, public, found)),
    }
}

/// The paths in tokens of which nobody knows the grammar: names joined by `::`. What follows a dot is a field or a method.
fn paths_in(tokens: TokenStream, module: &mut Module) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is =
        |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => paths_in(group.stream(), module),
            TokenTree::Ident(first) if at == 0 || !is(at - 1, '.') => {
                let mut path = vec![first.to_string()];
                while let (true, true, Some(TokenTree::Ident(next))) =
                    (is(at + 1, ':'), is(at + 2, ':'), tokens.get(at + 3))
                {
                    path.push(next.to_string());
                    at += 3;
                }
                let is_call = is(at + 1, '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
                match path.as_slice() {
                    [name] if is_call => drop(module.macro_calls.insert(name.clone())),
                    _ => drop(module.paths.insert(path)),
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    fn mentions(tokens: TokenStream, word: &str) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == word,
            TokenTree::Group(group) => mentions(group.stream(), word),
            _ => false,
        })
    }
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg")
            && mentions(list.tokens.clone(), "test")
            && !mentions(list.tokens.clone(), "not")
    })
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else { return None };
        pair.path.is_ident("path").then(|| path.value())
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
