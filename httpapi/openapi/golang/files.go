package golang

import (
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// shared is the file of the types that several tags use.
const shared = "types"

// fileName is that of a tag's file.
func fileName(tag string) string {
	plain := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}
	return "api_" + strings.Map(plain, tag) + ".go"
}

// in are the schemas of a file.
func in(places map[string]string, file string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(places)) {
		if places[name] == file {
			names = append(names, name)
		}
	}
	return names
}

// file is the source of one file.
func (w *writer) file(pack string, methods []*method, schemas []string) ([]byte, error) {
	w.out.Reset()
	for _, m := range methods {
		w.method(m)
	}
	for _, name := range schemas {
		w.object(name)
	}
	body := w.out.String()
	w.out.Reset()
	w.line("// Code generated from the OpenAPI document of the service. DO NOT EDIT.\n\npackage %s\n\nimport (", pack)
	for _, path := range imports(body) {
		w.line("%q", path)
	}
	w.line(")\n\n%s", body)
	text, err := format.Source(w.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("golang: %w", err)
	}
	return text, nil
}

// imports are the packages that a source uses, comments aside.
func imports(body string) []string {
	used := make(map[string]bool)
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		for _, path := range []string{"context", "encoding/json", "io", "iter", "net/http", "net/url", "strconv", "time"} {
			name := path[strings.LastIndexByte(path, '/')+1:] + "."
			for at := strings.Index(line, name); at >= 0; {
				if at == 0 || strings.IndexByte(" (*[]&!,", line[at-1]) >= 0 {
					used[path] = true
					break
				}
				next := strings.Index(line[at+1:], name)
				if next < 0 {
					break
				}
				at += next + 1
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}
