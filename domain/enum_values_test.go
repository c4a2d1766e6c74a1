package domain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// enumSources returns the source files of the string types with a Values method.
func enumSources() []string { return []string{"*.go", "event/*.go"} }

func TestValuesListEveryConstantOfTheirType(t *testing.T) {
	declared, listed := map[string][]string{}, map[string][]string{}
	for _, pattern := range enumSources() {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range file.Decls {
				collectConstants(d, declared)
				collectValues(d, listed)
			}
		}
	}
	require.Greater(t, len(listed), 30)
	require.Contains(t, listed, "Type", "of events")
	for kind, names := range listed {
		assert.ElementsMatch(t, declared[kind], names, kind)
	}
}

// collectConstants adds the typed constants of a declaration to into, by the name of their type.
func collectConstants(d ast.Decl, into map[string][]string) {
	group, ok := d.(*ast.GenDecl)
	if !ok || group.Tok != token.CONST {
		return
	}
	for _, s := range group.Specs {
		spec, _ := s.(*ast.ValueSpec)
		if kind, named := spec.Type.(*ast.Ident); named {
			for _, name := range spec.Names {
				into[kind.Name] = append(into[kind.Name], name.Name)
			}
		}
	}
}

// collectValues adds the strings that the Values method of an enumeration type returns to into, by type name.
func collectValues(d ast.Decl, into map[string][]string) {
	if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.VAR {
		collectList(group, into)
		return
	}
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv == nil || f.Name.Name != "Values" {
		return
	}
	kind, _ := f.Recv.List[0].Type.(*ast.Ident)
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, _ := call.Fun.(*ast.Ident); name == nil || name.Name != "values" {
			return true
		}
		for _, arg := range call.Args {
			if name, ok := arg.(*ast.Ident); ok {
				into[kind.Name] = append(into[kind.Name], name.Name)
			}
		}
		return false
	})
}

// collectList adds the constants in the variable allTypes = []T{…} to into, by the name of the type T.
func collectList(group *ast.GenDecl, into map[string][]string) {
	spec, _ := group.Specs[0].(*ast.ValueSpec)
	if spec.Names[0].Name != "allTypes" || len(spec.Values) == 0 {
		return
	}
	list, _ := spec.Values[0].(*ast.CompositeLit)
	kind, _ := list.Type.(*ast.ArrayType).Elt.(*ast.Ident)
	for _, entry := range list.Elts {
		if name, ok := entry.(*ast.Ident); ok {
			into[kind.Name] = append(into[kind.Name], name.Name)
		}
	}
}
