package pathway

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Limits of the condition expression of an edge.
const (
	maxExprTokens = 200
	maxExprDepth  = 20
)

// expr is a parsed condition on variables. Operands are variable names, numbers, quoted texts, true and false. The
// operators are == != < <= > >= contains ! && || and parentheses.
type expr interface {
	value(of map[string]string) string
}

type (
	exprText string
	exprName string
	exprNot  struct{ of expr }
	exprTwo  struct {
		op   string
		a, b expr
	}
)

// The text form of the boolean values of expressions.
const (
	exprTrue  = "true"
	exprFalse = "false"
)

func boolText(b bool) string {
	if b {
		return exprTrue
	}
	return exprFalse
}

// isTruthy reports whether a value counts as true: it is not empty and not false, no or 0.
func isTruthy(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", exprFalse, "no", "0":
		return false
	}
	return true
}

func (t exprText) value(map[string]string) string { return string(t) }
func (n exprName) value(of map[string]string) string {
	value, _ := valueOf(of, string(n))
	return value
}
func (n exprNot) value(of map[string]string) string { return boolText(!isTruthy(n.of.value(of))) }

func (t exprTwo) value(of map[string]string) string {
	a := t.a.value(of)
	switch t.op {
	case "&&":
		return boolText(isTruthy(a) && isTruthy(t.b.value(of)))
	case "||":
		return boolText(isTruthy(a) || isTruthy(t.b.value(of)))
	}
	return boolText(compareValues(t.op, strings.TrimSpace(a), strings.TrimSpace(t.b.value(of))))
}

// maxExact is the maximum number of digits of a value that is compared as a number. Longer digit strings are
// identifiers and must not be rounded.
const maxExact = 15

// parseNumber parses a finite decimal number.
func parseNumber(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// isLongNumber reports whether a value consists of more than maxExact digits.
func isLongNumber(text string) bool {
	return len(text) > maxExact && strings.Trim(text, "0123456789") == ""
}

// compareValues compares two values: as numbers if both are numbers, else as texts without regard to case. Two long
// digit strings are equal only if they are identical. Numbers and other texts have no order, and nothing is ordered
// relative to a missing value.
func compareValues(op, a, b string) bool {
	x, isA := parseNumber(a)
	y, isB := parseNumber(b)
	a, b = strings.ToLower(a), strings.ToLower(b)
	numbers, mixed := isA && isB, isA != isB
	order := strings.Compare(a, b)
	switch {
	case numbers && x == y && isLongNumber(a) && isLongNumber(b):
		order = cmp.Or(cmp.Compare(len(a), len(b)), order)
	case numbers:
		order = cmp.Compare(x, y)
	}
	switch op {
	case "contains":
		return strings.Contains(a, b)
	case "==":
		return order == 0
	case "!=":
		return order != 0
	}
	if mixed || a == "" || b == "" {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// readExpr parses an expression. names are the variables that the expression uses.
func readExpr(text string) (e expr, names []string, err error) {
	tokens, err := tokenizeExpr(text)
	if err != nil {
		return nil, nil, err
	}
	r := exprReader{tokens: tokens}
	if e, err = r.readOr(0); err == nil && len(r.tokens) > 0 {
		err = fmt.Errorf("unexpected %s", r.tokens[0].quoted())
	}
	return e, r.names, err
}

// exprToken is one token of an expression. kind is 'n' for a name, 't' for a text, 'd' for a number and 'o' for an
// operator.
type exprToken struct {
	kind byte
	text string
}

func (t exprToken) quoted() string { return strconv.Quote(t.text) }

func tokenizeExpr(text string) (out []exprToken, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if len(out) == maxExprTokens {
			return nil, errors.New("it is too long")
		}
		t, n, err := firstToken(text)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		text = text[n:]
	}
	return out, nil
}

// firstToken returns the first token of a text and its length.
func firstToken(text string) (exprToken, int, error) {
	for _, op := range []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")"} {
		if strings.HasPrefix(text, op) {
			return exprToken{'o', op}, len(op), nil
		}
	}
	first, size := utf8.DecodeRuneInString(text)
	switch {
	case first == '"' || first == '\'':
		end := strings.IndexRune(text[1:], first)
		if end < 0 {
			return exprToken{}, 0, errors.New("a text in quotes is not closed")
		}
		return exprToken{'t', text[1 : end+1]}, end + 2, nil
	case unicode.IsDigit(first) || first == '-':
		n := size + len(text[size:]) - len(strings.TrimLeft(text[size:], "0123456789."))
		if _, err := strconv.ParseFloat(text[:n], 64); err != nil {
			return exprToken{}, 0, fmt.Errorf("%q is not a number", text[:n])
		}
		return exprToken{'d', text[:n]}, n, nil
	case first == '_' || unicode.IsLetter(first):
		n := strings.IndexFunc(text, func(r rune) bool { return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if n < 0 {
			n = len(text)
		}
		return exprToken{'n', text[:n]}, n, nil
	}
	return exprToken{}, 0, fmt.Errorf("%q is not allowed", string(first))
}

type exprReader struct {
	tokens []exprToken
	names  []string
}

// takeOperator consumes the next token if it is one of the operators.
func (r *exprReader) takeOperator(ops ...string) (op string, ok bool) {
	if len(r.tokens) == 0 || r.tokens[0].kind == 't' || r.tokens[0].kind == 'd' {
		return "", false
	}
	for _, op = range ops {
		if r.tokens[0].text == op {
			r.tokens = r.tokens[1:]
			return op, true
		}
	}
	return "", false
}

func (r *exprReader) readOr(depth int) (expr, error) {
	return r.readChain("||", func() (expr, error) {
		return r.readChain("&&", func() (expr, error) { return r.readComparison(depth) })
	})
}

// readChain parses operands that are joined by the operator op, from left to right. next parses one operand.
func (r *exprReader) readChain(op string, next func() (expr, error)) (expr, error) {
	e, err := next()
	for err == nil {
		if _, more := r.takeOperator(op); !more {
			break
		}
		var b expr
		b, err = next()
		e = exprTwo{op, e, b}
	}
	return e, err
}

func (r *exprReader) readComparison(depth int) (expr, error) {
	a, err := r.readOperand(depth)
	if err != nil {
		return nil, err
	}
	op, ok := r.takeOperator("==", "!=", "<=", ">=", "<", ">", "contains")
	if !ok {
		return a, nil
	}
	b, err := r.readOperand(depth)
	return exprTwo{op, a, b}, err
}

func (r *exprReader) readOperand(depth int) (expr, error) {
	if depth > maxExprDepth {
		return nil, errors.New("it is nested too deeply")
	}
	if _, not := r.takeOperator("!"); not {
		e, err := r.readOperand(depth + 1)
		return exprNot{e}, err
	}
	if _, open := r.takeOperator("("); open {
		e, err := r.readOr(depth + 1)
		if _, shut := r.takeOperator(")"); err == nil && !shut {
			err = errors.New("a ( is not closed")
		}
		return e, err
	}
	if len(r.tokens) == 0 {
		return nil, errors.New("a value is missing at the end")
	}
	t := r.tokens[0]
	r.tokens = r.tokens[1:]
	switch {
	case t.kind == 'o' || t.text == "contains" && t.kind == 'n':
		return nil, fmt.Errorf("found %s instead of a value", t.quoted())
	case t.kind == 'n' && t.text != exprTrue && t.text != exprFalse:
		r.names = append(r.names, t.text)
		return exprName(t.text), nil
	}
	return exprText(t.text), nil
}

// checkExpression validates the expression of an edge and the variables that it uses.
func (v *validation) checkExpression(param, text string) {
	v.checkText(param, text, MaxNotes)
	if strings.TrimSpace(text) == "" {
		return
	}
	_, names, err := readExpr(text)
	if err != nil {
		v.addProblem(param, "cannot be read: %s", err)
		return
	}
	for _, name := range names {
		if !v.isKnown(name) {
			v.addProblem(param, "%q is neither declared nor built in", name)
		}
	}
}

// followCondition leaves a condition node by the first edge whose expression is true. If none is true, it follows the
// else edge.
func (w *stepper) followCondition() {
	w.followEdge([]domain.EdgeType{domain.EdgeExpr, domain.EdgeElse, domain.EdgeAlways}, w.s.node)
}

// isEdgeMet reports whether the expression of an edge is true.
func (w *stepper) isEdgeMet(e *domain.Edge) bool {
	read, _, err := readExpr(e.When.Expr)
	return err == nil && isTruthy(read.value(w.s.values))
}

// hasMetExpression reports whether any expression edge of a node is true.
func (w *stepper) hasMetExpression(from string) bool {
	for _, e := range w.s.graph.edges[from] {
		if e.When.Type == domain.EdgeExpr && w.isEdgeMet(&e) {
			return true
		}
	}
	return false
}
