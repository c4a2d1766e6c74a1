package pathway

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
)

// This file validates the use of action results whose fields are known: those of appointments and messages. The results of
// tools are not known, because tools declare no result.

// resultKind is the kind of a value in a result.
type resultKind string

// The kinds of values in a result, as messages name them.
const (
	kindText   resultKind = "a text"
	kindNumber resultKind = "a number"
	kindList   resultKind = "a list"
	kindObject resultKind = "an object"
)

// resultShape is what is known of a value in a result. nil: nothing.
type resultShape struct {
	kind   resultKind
	fields map[string]*resultShape // of an object
	items  *resultShape            // of a list
}

func textShape() *resultShape { return &resultShape{kind: kindText} }

func objectShape(number string, texts ...string) *resultShape {
	s := &resultShape{kind: kindObject, fields: make(map[string]*resultShape)}
	for _, name := range texts {
		s.fields[name] = textShape()
	}
	if number != "" {
		s.fields[number] = &resultShape{kind: kindNumber}
	}
	return s
}

// shapeOfActionResult returns the shape of the result of a node's action, or nil.
func shapeOfActionResult(n *domain.Node) *resultShape {
	switch {
	case n.Type == domain.NodeAppointment && n.Action == "availability":
		return &resultShape{kind: kindObject, fields: map[string]*resultShape{"free": {kind: kindList, items: textShape()}}}
	case n.Type == domain.NodeAppointment:
		return objectShape("minutes", "action", "appointment_id", "status", "provider", "datetime", "local_datetime", "timezone")
	case n.Type == domain.NodeSMS:
		return objectShape("", "message_id", "status")
	}
	return nil
}

// collectShapes returns the shapes of the variables that only nodes with known results set. A variable that several such
// nodes set has the fields of all.
func (v *validation) collectShapes() map[string]*resultShape {
	shapes, unknown := make(map[string]*resultShape), make(map[string]bool)
	for _, name := range BuiltInVariables() {
		unknown[name] = true
	}
	for _, d := range v.p.Variables {
		unknown[d.Name] = true
	}
	for i := range v.p.Nodes {
		n := &v.p.Nodes[i]
		for _, f := range n.Extract {
			unknown[f.Name] = true
		}
		if n.Set != nil {
			for name := range n.Set.Variables {
				unknown[name] = true
			}
		}
		shape := shapeOfActionResult(n)
		switch before := shapes[n.SaveAs]; {
		case n.SaveAs == "" || n.Type == domain.NodeOffer:
		case shape == nil:
			unknown[n.SaveAs] = true
		case before != nil:
			fields := maps.Clone(before.fields)
			maps.Copy(fields, shape.fields)
			shapes[n.SaveAs] = &resultShape{kind: kindObject, fields: fields}
		default:
			shapes[n.SaveAs] = shape
		}
	}
	for name := range unknown {
		delete(shapes, name)
	}
	for i := range v.p.Nodes { // an item of a known list has a known shape, too
		n := &v.p.Nodes[i]
		if n.Type != domain.NodeOffer || n.SaveAs == "" || unknown[n.SaveAs] || shapes[n.SaveAs] != nil {
			continue
		}
		if list, _ := shapeAt(shapes, n.List); list != nil && list.kind == kindList {
			shapes[n.SaveAs] = list.items
		}
	}
	return shapes
}

// shapeAt returns the shape of a variable or of a field of a variable, or nil if it is not known. problem says why a field
// cannot exist, and what to write instead.
func shapeAt(shapes map[string]*resultShape, name string) (shape *resultShape, problem string) {
	variable, path, isField := strings.Cut(name, ".")
	shape = shapes[variable]
	if shape == nil || !isField {
		return shape, ""
	}
	at := variable
	for key := range strings.SplitSeq(path, ".") {
		switch shape.kind {
		case kindObject:
			field := shape.fields[key]
			if field == nil {
				return nil, fmt.Sprintf("%s has no field %q; it has %s", at, key, strings.Join(slices.Sorted(maps.Keys(shape.fields)), ", "))
			}
			shape = field
		case kindList:
			if i, err := strconv.Atoi(key); err != nil || i < 0 {
				return nil, fmt.Sprintf("%s is a list; write %s.0 for its first item, or offer its items by an offer node", at, at)
			}
			shape = shape.items
		case kindText, kindNumber:
			return nil, fmt.Sprintf("%s is %s and has no fields; write {{%s}}", at, shape.kind, at)
		}
		at += "." + key
	}
	return shape, ""
}

// checkResultFields adds a problem for each text, list and expression that uses a field which a result cannot have.
func (v *validation) checkResultFields() {
	v.shapes = v.collectShapes()
	for i := range v.p.Nodes {
		n := &v.p.Nodes[i]
		at := fmt.Sprintf("nodes[%d]", i)
		if n.Type == domain.NodeOffer {
			switch shape, problem := shapeAt(v.shapes, n.List); {
			case problem != "":
				v.addProblem(at+".list", "%q: %s", n.List, problem)
				continue // the items are not known
			case shape != nil && shape.kind != kindList:
				v.addProblem(at+".list", "%q is %s; name a list%s", n.List, shape.kind, listsOf(n.List, shape))
				continue
			}
		}
		for _, t := range textsOf(n) {
			for _, p := range placeholdersIn(State{}.withItem(n, t.text)) { // the first item stands for all
				if _, problem := shapeAt(v.shapes, p.name); problem != "" && !p.hasFallback {
					v.addProblem(at+"."+t.param, "{{%s}}: %s", p.name, problem)
				}
			}
		}
	}
	for i := range v.p.Edges {
		if w := &v.p.Edges[i].When; w.Type == domain.EdgeExpr {
			if e, names, err := readExpr(w.Expr); err == nil {
				v.checkExpressionFields(fmt.Sprintf("edges[%d].when.expr", i), e, names)
			}
		}
	}
}

// listsOf returns a remedy that names the lists among the fields of a result, or "".
func listsOf(name string, shape *resultShape) string {
	var lists []string
	for field, s := range shape.fields {
		if s.kind == kindList {
			lists = append(lists, name+"."+field)
		}
	}
	if slices.Sort(lists); len(lists) == 0 {
		return ""
	}
	return " such as " + strings.Join(lists, ", ")
}

// checkExpressionFields adds problems for fields that cannot exist, and for comparisons of a number with a text, which are
// never true.
func (v *validation) checkExpressionFields(param string, e expr, names []string) {
	for _, name := range names {
		if _, problem := shapeAt(v.shapes, name); problem != "" {
			v.addProblem(param, "%q: %s", name, problem)
		}
	}
	for c := range comparisonsIn(e) {
		name, isName := c.a.(exprName)
		constant, isConstant := c.b.(exprText)
		if !isName {
			name, isName = c.b.(exprName)
			constant, isConstant = c.a.(exprText)
		}
		shape, _ := shapeAt(v.shapes, string(name))
		if !isName || !isConstant || shape == nil || c.op == "contains" {
			continue
		}
		switch _, isNumber := parseNumber(string(constant)); {
		case isNumber && shape.kind == kindText:
			v.addProblem(param, "%s is a text, compared with the number %s; compare it with a text in quotes", name, constant)
		case !isNumber && shape.kind == kindNumber:
			v.addProblem(param, "%s is a number, compared with the text %q; compare it with a number", name, constant)
		}
	}
}

// comparisonsIn yields the comparisons of an expression.
func comparisonsIn(e expr) func(yield func(exprTwo) bool) {
	return func(yield func(exprTwo) bool) {
		var walk func(e expr) bool
		walk = func(e expr) bool {
			switch e := e.(type) {
			case exprNot:
				return walk(e.of)
			case exprTwo:
				if e.op == "&&" || e.op == "||" {
					return walk(e.a) && walk(e.b)
				}
				return yield(e)
			}
			return true
		}
		walk(e)
	}
}

// warnOfSpokenResults returns a warning for each spoken text that contains a whole result, which is read aloud as JSON.
func (v *validation) warnOfSpokenResults() []domain.Detail {
	var found domain.Problems
	v.shapes = v.collectShapes()
	for i := range v.p.Nodes {
		n := &v.p.Nodes[i]
		for _, t := range textsOf(n) {
			if !t.spoken {
				continue
			}
			param := fmt.Sprintf("nodes[%d].%s", i, t.param)
			for _, p := range placeholdersIn(State{}.withItem(n, t.text)) {
				switch shape, _ := shapeAt(v.shapes, p.name); {
				case shape == nil:
				case shape.kind == kindObject:
					found.Add(param, "spoken_result", "{{%s}} is read aloud with all its fields; name one of %s", p.name, strings.Join(slices.Sorted(maps.Keys(shape.fields)), ", "))
				case shape.kind == kindList:
					found.Add(param, "spoken_result", "{{%s}} is read aloud with all its items; offer them one by one by an offer node, or name {{%s.0}}", p.name, p.name)
				}
			}
		}
	}
	return found
}
