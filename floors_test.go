// Package callboard_test holds the floors of the house: imports only ever run
// down, as docs/ARCHITECTURE.md draws them.
package callboard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/callboard/callboard"

// room says what the packages below one path may import.
type room struct {
	path     string
	below    []string // ours that may be imported, each with its subfolders; "*": all
	outside  []string // third parties that may be imported; "*": all but those in never
	never    []string // third parties that may not be imported, where outside is "*"
	standard []string // of the standard library, what may not be imported
}

// rooms is the table of the architecture. The longest path that fits counts.
func rooms() []room {
	domainOutside := []string{"github.com/oklog/ulid", "github.com/nyaruka/phonenumbers", "github.com/go-json-experiment/json"}
	noIO := []string{"net/http", "os", "log/slog", "context"}
	list := []room{
		{path: "media", below: []string{"media"}, outside: []string{"github.com/pion", "golang.org/x/net", "golang.org/x/sys"}},
		{path: "sip", below: []string{"domain", "sip"}, outside: []string{"github.com/emiago/sipgo", "github.com/hashicorp/golang-lru"}},
		{path: "sip/transport", outside: []string{"golang.org/x/sys"}},
		{path: "sip/auth", below: []string{"sip/message", "sip/ratelimit"}, outside: []string{"github.com/emiago/sipgo", "github.com/hashicorp/golang-lru", "github.com/icholy/digest"}},
		{path: "sip/registrar", below: []string{"sip/message", "sip/resolve"}, outside: []string{"github.com/emiago/sipgo"}},
		{path: "sip/ratelimit", outside: []string{"github.com/hashicorp/golang-lru"}},
		{path: "sip/message", below: []string{"domain"}, outside: []string{"github.com/emiago/sipgo"}},
		{path: "sip/siptest", outside: []string{"github.com/miekg/dns"}},
		{path: "sip/resolve", outside: []string{"github.com/hashicorp/golang-lru", "github.com/miekg/dns", "golang.org/x/sync/singleflight"}},
		{
			path: "persistence", below: []string{"domain", "persistence"},
			outside: []string{"github.com/redis/go-redis", "github.com/cockroachdb/pebble", "github.com/klauspost/compress", "github.com/minio/minio-go", "golang.org/x/sync/errgroup", "golang.org/x/sys"},
		},
		{path: "persistence/lease", below: []string{"persistence/lease"}, outside: []string{"github.com/redis/go-redis"}},
		{path: "configs", outside: []string{"github.com/knadh/koanf"}},
		{path: "client"}, // others build on it: it brings nothing along
		{
			path: "httpapi", below: []string{"domain", "httpapi"}, outside: []string{"*"},
			never: []string{"github.com/asynkron", "github.com/redis", "github.com/cockroachdb", "github.com/emiago", "github.com/pion"},
		},
		{path: "httpapi/locate", below: []string{"domain", "httpapi/locate", "httpapi/token"}}, // every request goes through it
		{path: "cmd", below: []string{"*"}, outside: []string{"*"}},
		{path: "cmd/callboard/cli", below: []string{"client"}, outside: []string{"github.com/spf13", "github.com/schollz/progressbar", "golang.org/x/term"}},
		{path: "cmd/callboard/doctor", below: []string{"client", "configs"}, outside: []string{"github.com/redis/go-redis", "golang.org/x/sys"}},
		{path: "cmd/callboard/setup", below: []string{"client", "configs"}},
	}
	for path, below := range map[string][]string{
		"domain": nil, "domain/event": nil, "domain/lifecycle": nil, "domain/calendar": nil, "domain/pathway": nil, "domain/allow": nil, "domain/billing": nil, "domain/sipflow": nil, "domain/route": nil, "domain/dnc": nil, "domain/sheet": nil, "domain/sms": nil, "domain/knowledge": nil, "domain/alert": nil, "domain/personal": nil,
		"domain/booking":  {"domain/calendar"},
		"domain/dialplan": {"domain/calendar"}, "domain/rehearsal": {"domain/calendar", "domain/dialplan"}, "domain/hook": {"domain/event", "domain/allow"}, "domain/commit": {"domain/event"}, "domain/ask": {"domain/event"},
		"domain/rules": {"domain/event", "domain/allow", "domain/ask", "domain/hook", "domain/pathway", "domain/calendar", "domain/sms", "domain/knowledge"},
	} {
		if path != "domain" {
			below = append(below, "domain$")
		}
		list = append(list, room{path: path, below: below, outside: domainOutside, standard: noIO})
	}
	for i := range list {
		switch list[i].path {
		case "domain/commit": // it words the store's promise, and a store is waited for
			list[i].standard = []string{"net/http", "os", "log/slog"}
		case "domain/rules": // it judges the schemas of tools
			list[i].outside = append(slices.Clone(domainOutside), "github.com/santhosh-tekuri/jsonschema")
		}
	}
	return append(list, actorRooms()...)
}

// actorRooms lets an actor import the actors that it talks down to.
func actorRooms() []room {
	ground := []string{"domain", "media", "sip"}
	var list []room
	for path, down := range map[string][]string{
		"mailbox":      nil,
		"dnc":          nil, // the do-not-call lists in memory; no actor
		"lines":        {"mailbox"},
		"numbers":      {"mailbox", "dnc"},
		"trunk":        {"mailbox"},
		"conversation": {"mailbox"},
		"tracing":      nil, // trace contexts of calls and deliveries; no actor
		"webhook":      {"mailbox", "content", "tracing"},
		"outbox":       {"mailbox", "webhook"},
		"alerts":       {"mailbox"},
		"booking":      {"mailbox"},
		"messaging":    {"mailbox", "trunk"},
		"jobs":         {"mailbox"},
		"engines":      nil,         // what speaks and hears elsewhere; no actor
		"llm":          nil,         // language models over HTTP; no actor
		"paper":        nil,         // what reads PDF files, in a process of its own; no actor
		"content":      nil,         // content codings and charsets of what other servers answer; no actor
		"tools":        {"content"}, // what models and pathways have done over HTTP and MCP; no actor
		"polltest":     nil,         // waits in tests; tests alone import it
		"simulator":    {"mailbox"}, // the built-in carrier: phones over loopback
		"phones":       {"mailbox"}, // who registered, and where they are
		"call":         {"mailbox", "tracing", "lines", "trunk", "numbers", "dnc", "conversation"},
		"campaign":     {"mailbox", "lines", "trunk", "numbers", "dnc", "call"},
		"workspace":    {""},
	} {
		r := room{path: "actors/" + path, below: slices.Clone(ground)}
		if path == "mailbox" {
			r.below = []string{"domain"}
		}
		for _, d := range append(down, path) {
			r.below = append(r.below, strings.TrimSuffix("actors/"+d, "/"))
		}
		list = append(list, r)
	}
	list = append(list, room{path: "actors", below: append([]string{"actors"}, ground...)})
	for i := range list {
		list[i].outside = []string{"*"}
		list[i].never = []string{"github.com/redis", "github.com/cockroachdb", "github.com/emiago", "github.com/pion", "github.com/gofiber", "github.com/danielgtaylor", "github.com/knadh"}
	}
	return list
}

// broken says in a sentence why importer may not import the other package, or
// nothing. Both are full import paths.
func broken(importer, imported string) string {
	from := strings.TrimPrefix(strings.TrimPrefix(importer, module), "/")
	r, known := roomOf(from)
	if !known {
		return from + " stands in no room of the house: name it in docs/ARCHITECTURE.md and in floors_test.go"
	}
	to, ours := strings.CutPrefix(imported, module+"/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case ours:
		if to == "actors" && from != "actors" && !strings.HasPrefix(from, "cmd/") {
			return from + " imports actors, which grows the whole tree: an actor knows only those it talks down to"
		}
		if slices.ContainsFunc(r.below, func(b string) bool { return b == "*" || to == strings.TrimSuffix(b, "$") || inside(to, b) }) {
			return ""
		}
		return fmt.Sprintf("%s imports %s, which does not stand below it: it may import %s of ours", from, to, orNothing(r.below))
	case !strings.Contains(first, "."): // the standard library
		if slices.Contains(r.standard, imported) {
			return fmt.Sprintf("%s imports %s: the domain does no I/O, waits for nothing and logs nothing", from, imported)
		}
		return ""
	case testHelp(imported) && strings.HasSuffix(from, "test"):
		return ""
	case testHelp(imported):
		return fmt.Sprintf("%s imports %s: only tests and the packages that serve them do", from, imported)
	case slices.ContainsFunc(r.never, func(n string) bool { return inside(imported, n) }):
		return fmt.Sprintf("%s imports %s: that is the business of another room", from, imported)
	case slices.ContainsFunc(r.outside, func(o string) bool { return o == "*" || inside(imported, o) }):
		return ""
	}
	return fmt.Sprintf("%s imports %s: of third parties it may import %s", from, imported, orNothing(r.outside))
}

func roomOf(path string) (room, bool) {
	var best room
	for _, r := range rooms() {
		if inside(path, r.path) && len(r.path) > len(best.path) {
			best = r
		}
	}
	exact := best.path == path || (best.path != "domain" && best.path != "actors")
	return best, best.path != "" && exact
}

func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func testHelp(path string) bool {
	return inside(path, "github.com/stretchr/testify") || inside(path, "pgregory.net/rapid") || inside(path, "github.com/alicebob/miniredis")
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.ReplaceAll(strings.Join(list, ", "), "$", "")
}

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestImportsOnlyRunDown(t *testing.T) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())

	packages := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; packages++ {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			require.NoError(t, err)
		}
		if p.ImportPath == module { // this test
			continue
		}
		sentences := make(map[string]bool)
		for _, imported := range p.Imports {
			sentences[broken(p.ImportPath, imported)] = true
		}
		// A test may use what its package may not, except at the front door:
		// what it is tested with would become what it is made for.
		if strings.HasPrefix(p.ImportPath, module+"/httpapi") {
			for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
				if !testHelp(imported) {
					sentences[broken(p.ImportPath, imported)] = true
				}
			}
		}
		for _, sentence := range slices.Sorted(maps.Keys(sentences)) {
			if sentence != "" {
				t.Error(sentence)
			}
		}
	}
	assert.Greater(t, packages, 10, "go list found too little to judge")
}

func TestTheHouseHasTheFoldersItWasGiven(t *testing.T) {
	allowed := []string{"actors", "client", "cmd", "configs", "deploy", "docs", "domain", "httpapi", "media", "persistence", "sip"}
	made := []string{"bin", "data"} // not part of the repository
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(made, e.Name()) {
			assert.Contains(t, allowed, e.Name(), "a folder at the top that the architecture does not name")
		}
	}
}

func TestAnImportThatRunsUpIsCaught(t *testing.T) {
	const (
		testify = "github.com/stretchr/testify/require"
		actor   = "github.com/asynkron/protoactor-go/actor"
	)
	for _, c := range []struct {
		from, to string
		caught   bool
	}{
		{"domain", "time", false},
		{"domain", "github.com/oklog/ulid/v2", false},
		{"domain", module + "/domain/event", true},
		{"domain", "context", true},
		{"domain", "github.com/pion/rtp", true},
		{"domain/event", module + "/domain", false},
		{"domain/calendar", module + "/domain/dialplan", true},
		{"domain/dialplan", module + "/domain/calendar", false},
		{"domain/dialplan", "os", true},
		{"domain/commit", "context", false},
		{"domain/commit", "net/http", true},
		{"domain/ask", "context", true},
		{"domain/attic", "time", true},
		{"media/reception", module + "/media", false},
		{"client", module + "/domain", true},
		{"client", "net/http", false},
		{"client", "github.com/oklog/ulid/v2", true},
		{"media", module + "/domain", true},
		{"media", "github.com/emiago/sipgo/sip", true},
		{"sip", module + "/domain", false},
		{"sip", module + "/media", true},
		{"sip/auth", "github.com/icholy/digest", false},
		{"sip", "github.com/pion/rtp", true},
		{"persistence/redis", "github.com/redis/go-redis/v9", false},
		{"persistence/redis", "github.com/redis/go-redis-extra", true},
		{"persistence/lease/redis", module + "/persistence/lease", false},
		{"persistence/lease", module + "/persistence/redis", true},
		{"persistence", module + "/actors/mailbox", true},
		{"persistence", actor, true},
		{"persistence/storetest", testify, false},
		{"persistence/pebble", testify, true},
		{"configs", "github.com/knadh/koanf/v2", false},
		{"configs", module + "/domain", true},
		{"httpapi", "github.com/gofiber/fiber/v2", false},
		{"httpapi", module + "/domain/event", false},
		{"httpapi", module + "/actors/call", true},
		{"httpapi", module + "/persistence", true},
		{"httpapi", module + "/sip", true},
		{"httpapi", module + "/media/wav", true},
		{"httpapi", module + "/configs", true},
		{"httpapi", actor, true},
		{"actors/campaign", module + "/actors/call", false},
		{"actors/call", module + "/actors/campaign", true},
		{"actors/lines", module + "/actors/call", true},
		{"actors/call", module + "/sip", false},
		{"actors/call", module + "/persistence", true},
		{"actors/call", module + "/httpapi", true},
		{"actors/call", module + "/configs", true},
		{"actors/call", module + "/actors", true},
		{"actors/call", "github.com/emiago/sipgo/sip", true},
		{"actors/mailbox", module + "/sip", true},
		{"actors/mailbox/actortest", module + "/actors/mailbox", false},
		{"actors/workspace", module + "/actors/campaign", false},
		{"actors/attic", "time", true},
		{"actors", module + "/actors/workspace", false},
		{"actors", "github.com/redis/go-redis/v9", true},
		{"actors", "github.com/gofiber/fiber/v2", true},
		{"cmd/callboard", module + "/configs", false},
		{"cmd/callboard", module + "/actors", false},
		{"cmd/callboard", testify, true},
		{"cmd/callboard/metrics", module + "/actors", false},
		{"cmd/callboard/cli", module + "/client", false},
		{"cmd/callboard/cli", module + "/domain", true},
		{"cmd/callboard/doctor", module + "/configs", false},
		{"cmd/callboard/doctor", module + "/persistence", true},
		{"cmd/callboard/setup", "github.com/spf13/cobra", true},
		{"util", "time", true},
		{"internal/store", "time", true},
	} {
		sentence := broken(module+"/"+c.from, c.to)
		assert.Equal(t, c.caught, sentence != "", "%s imports %s: %q", c.from, c.to, sentence)
		if c.caught {
			assert.Contains(t, sentence, c.from)
		}
	}
}
