//! The grammar of the bodies: machines, patterns, grammars and rewriting systems. A body ends at a handler, at another body, at a
//! declaration or at the closing brace; a `;` after it is allowed.

use super::ast::{Body, Content, FsmState, Name, Pattern, Repeat, SrsRight, SrsRule};
use super::diagnostic::Diagnostic;
use super::lexer::TokenKind;
use super::limits;
use super::parser::{FORMALISMS, Parser, Result};

impl Parser {
    pub(super) fn body(&mut self) -> Result<Body> {
        let formalism = self.name("a formalism")?;
        let name = if self.is_sign(0, ":") { None } else { Some(self.name("the name of the body")?) };
        self.expect(":", "after the formalism")?;
        self.operators = 0;
        let content = match formalism.text.as_str() {
            "fsm" => self.fsm()?,
            "ere" => Content::Ere(self.alternatives()?),
            "cfg" => Content::Cfg(self.grammar()?),
            "srs" => Content::Srs(self.rules()?),
            "raw" => {
                let (text, span) = self.text("the name of a registered monitor, in quotes")?;
                Content::Raw(text, span)
            }
            "mttl" => {
                self.knows_threads = true;
                let formula = self.formula();
                self.knows_threads = false;
                Content::Mttl(formula?)
            }
            _ => Content::Formula(self.formula()?),
        };
        self.takes(";");
        if !self.at_body_end() {
            return Err(self.unexpected("an operator, a handler such as `@match { … }`, or `}`"));
        }
        let span = formalism.span.start..self.peek(0).span.start;
        Ok(Body { formalism, name, content, span })
    }

    pub(super) fn at_body_end(&self) -> bool {
        match &self.peek(0).kind {
            TokenKind::End | TokenKind::Sign("@" | "}" | ";") => true,
            TokenKind::Name(word) if FORMALISMS.contains(&word.as_str()) => {
                self.is_sign(1, ":")
                    || (matches!(self.peek(1).kind, TokenKind::Name(_)) && self.is_sign(2, ":"))
            }
            TokenKind::Name(word) if word == "state" => {
                matches!(self.peek(1).kind, TokenKind::Name(_))
                    && (self.is_sign(2, ":") || self.is_sign(2, ","))
            }
            TokenKind::Name(word) => {
                matches!(word.as_str(), "event" | "creation" | "var" | "thread" | "local")
                    && matches!(self.peek(1).kind, TokenKind::Name(_))
            }
            _ => false,
        }
    }

    fn fsm(&mut self) -> Result<Content> {
        let (mut states, mut aliases) = (Vec::new(), Vec::new());
        while !self.at_body_end() {
            if self.is_word(0, "alias") && !self.is_sign(1, "[") {
                self.next();
                let name = self.name("the name of the alias")?;
                self.expect("=", "and the states it stands for")?;
                aliases.push((name, self.names("a state")?));
            } else {
                states.push(self.state()?);
                self.at_most(limits::STATES, states.len(), "states in one machine")?;
            }
        }
        Ok(Content::Fsm(states, aliases))
    }

    fn state(&mut self) -> Result<FsmState> {
        let name = self.name("a state")?;
        self.expect("[", "to open the state's transitions")?;
        let mut transitions = Vec::new();
        while !self.takes("]") {
            let event = self.name("an event, `default` or `]`")?;
            self.expect("->", "and the next state")?;
            transitions.push((event, self.name("a state")?));
            self.takes(",");
        }
        Ok(FsmState { name, transitions })
    }

    fn alternatives(&mut self) -> Result<Pattern> {
        self.nested(|parser| parser.operands("|", Parser::intersections, Pattern::Or))
    }

    fn intersections(&mut self) -> Result<Pattern> {
        self.operands("&", Parser::sequence, Pattern::And)
    }

    fn operands(
        &mut self,
        sign: &str,
        operand: fn(&mut Parser) -> Result<Pattern>,
        many: fn(Vec<Pattern>) -> Pattern,
    ) -> Result<Pattern> {
        let first = operand(self)?;
        if !self.is_sign(0, sign) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.takes(sign) {
            self.counts()?;
            all.push(operand(self)?);
        }
        Ok(many(all))
    }

    fn sequence(&mut self) -> Result<Pattern> {
        let first = self.repeated()?;
        let mut all = vec![first];
        while !self.at_body_end()
            && (matches!(self.peek(0).kind, TokenKind::Name(_))
                || self.is_sign(0, "(")
                || self.is_sign(0, "~"))
        {
            self.counts()?;
            all.push(self.repeated()?);
        }
        match all.pop() {
            Some(only) if all.is_empty() => Ok(only),
            Some(last) => {
                all.push(last);
                Ok(Pattern::Concat(all))
            }
            None => Ok(Pattern::Epsilon),
        }
    }

    fn repeated(&mut self) -> Result<Pattern> {
        if self.takes("~") {
            return self.nested(|parser| Ok(Pattern::Not(Box::new(parser.repeated()?))));
        }
        let mut pattern = if self.takes("(") {
            let inner = self.alternatives()?;
            self.expect(")", "to close the group")?;
            inner
        } else {
            let name = self.name("an event, `epsilon`, `empty` or `(`")?;
            match name.text.as_str() {
                "epsilon" => Pattern::Epsilon,
                "empty" => Pattern::Empty,
                _ => Pattern::Event(name),
            }
        };
        loop {
            let repeat = match self.peek(0).kind {
                TokenKind::Sign("*") => Repeat::Any,
                TokenKind::Sign("+") => Repeat::Some,
                TokenKind::Sign("?") => Repeat::Maybe,
                _ => return Ok(pattern),
            };
            self.next();
            self.counts()?;
            pattern = Pattern::Repeat(Box::new(pattern), repeat);
        }
    }

    fn grammar(&mut self) -> Result<Vec<(Name, Vec<Vec<Name>>)>> {
        let mut rules = Vec::new();
        while !self.at_body_end() {
            let symbol = self.name("a symbol of the grammar")?;
            self.expect("->", "after the symbol")?;
            let mut alternatives = vec![self.symbols()?];
            while self.takes("|") {
                self.counts()?;
                alternatives.push(self.symbols()?);
            }
            self.takes(",");
            rules.push((symbol, alternatives));
            self.at_most(limits::STATES, rules.len(), "rules in one grammar")?;
        }
        Ok(rules)
    }

    fn rules(&mut self) -> Result<Vec<SrsRule>> {
        let mut rules = Vec::new();
        loop {
            let at_begin = self.takes("^");
            let mut left = vec![self.name("a symbol: an event, or what a rule makes")?];
            while !self.is_sign(0, "->") && !self.is_sign(0, "$") {
                self.counts()?;
                left.push(self.name("a symbol, `$` or `->`")?);
            }
            let at_end = self.takes("$");
            self.expect("->", "and what the left side becomes")?;
            rules.push(SrsRule { at_begin, left, at_end, right: self.right_side()? });
            self.at_most(limits::STATES, rules.len(), "rules in one system")?;
            if !self.takes(".") || self.at_body_end() {
                return Ok(rules);
            }
        }
    }

    /// Symbols, `#epsilon`, `#succeed` or `#fail`.
    fn right_side(&mut self) -> Result<SrsRight> {
        if self.takes("#") {
            let word = self.name("`epsilon`, `succeed` or `fail`")?;
            return match word.text.as_str() {
                "epsilon" => Ok(SrsRight::Symbols(Vec::new())),
                "succeed" => Ok(SrsRight::Succeed),
                "fail" => Ok(SrsRight::Fail),
                other => {
                    let label = "expected `#epsilon`, `#succeed` or `#fail`";
                    let problem = Diagnostic::error(
                        word.span,
                        format!("`#{other}` is not the right side of a rule"),
                        label,
                    );
                    Err(problem.with_suggestion(other, ["epsilon", "succeed", "fail"]))
                }
            };
        }
        let mut right = vec![self.name("a symbol, `#epsilon`, `#succeed` or `#fail`")?];
        while matches!(self.peek(0).kind, TokenKind::Name(_)) && !self.at_body_end() {
            self.counts()?;
            right.push(self.name("a symbol")?);
        }
        Ok(SrsRight::Symbols(right))
    }

    /// One alternative; ends before a name that an arrow follows, which begins the next rule.
    fn symbols(&mut self) -> Result<Vec<Name>> {
        let mut symbols = Vec::new();
        let first = self.name("a symbol, an event or `epsilon`")?;
        let is_epsilon = first.text == "epsilon";
        if !is_epsilon {
            symbols.push(first);
        }
        while matches!(self.peek(0).kind, TokenKind::Name(_)) && !self.is_sign(1, "->") && !self.at_body_end()
        {
            self.counts()?;
            let symbol = self.name("a symbol")?;
            if symbol.text != "epsilon" {
                symbols.push(symbol);
            }
        }
        Ok(symbols)
    }
}
