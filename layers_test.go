// Package callboard_test checks the layers of the code base: imports run
// downwards only, as docs/ARCHITECTURE.md describes them.
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

// layers gives each top-level folder its layer number. A package may import
// packages of lower layers, its own subpackages, and the imports that siblings allows.
func layers() map[string]int {
	return map[string]int{
		"configs":     1,
		"domain":      2,
		"sip":         3,
		"media":       3,
		"persistence": 3,
		"engines":     3,
		"actors":      4,
		"service":     5,
		"httpapi":     6,
		"cmd":         7,
	}
}

// siblings lists, for each package, the packages of the same layer that the package may import.
func siblings() map[string][]string {
	list := map[string][]string{
		// Some domain packages use decisions of other domain packages.
		"domain/booking":    {"domain/calendar"},
		"domain/pathway":    {"domain/wordlists"},
		"domain/dialer":     {"domain/calendar"},
		"domain/simulation": {"domain/calendar", "domain/dialer"},
		"domain/webhook":    {"domain/event", "domain/access"},
		"domain/commit":     {"domain/event"},
		"domain/validation": {"domain/event", "domain/access", "domain/webhook", "domain/pathway", "domain/calendar", "domain/sms", "domain/knowledge"},
		// The registrar resolves the addresses of phones. The test carrier speaks SIP and RTP.
		"sip/auth":         {"sip/message", "sip/ratelimit"},
		"sip/registrar":    {"sip/auth", "sip/message", "sip/ratelimit", "sip/resolve", "sip/transport"},
		"sip/transport":    {"sip/message", "sip/ratelimit", "sip/resolve"},
		"sip/cluster":      {"sip/auth", "sip/message", "sip/ratelimit", "sip/resolve", "sip/transport"},
		"sip/forking":      {"sip", "sip/outcome", "sip/registrar"},                            // they use the public API of the SIP user agent
		"sip/registration": {"sip", "sip/auth", "sip/message", "sip/resolve", "sip/transport"}, // they use the public API of the SIP user agent
		"sip/textmessage":  {"sip", "sip/auth", "sip/message", "sip/outcome", "sip/resolve", "sip/transport"},
		"sip/sessiontimer": {"sip/message"},
		"sip/outcome":      {"sip/message", "sip/registrar", "sip/resolve"}, // for the targets of a redirect (3xx)
		"sip/testcarrier":  {"sip", "media"},
		// An actor imports its child actors, or the actor that it reports to.
		"actors/numbers":  {"actors/dnc"},
		"actors/outbox":   {"actors/webhook"},
		"actors/inbound":  {"actors/registrar", "actors/storecache", "actors/trunk"},
		"actors/call":     {"actors/call", "actors/lines", "actors/trunk", "actors/numbers", "actors/conversation", "actors/dnc"}, // with subpackages
		"actors/campaign": {"actors/lines", "actors/trunk", "actors/numbers", "actors/call", "actors/dnc"},
		"actors/node":     {"actors"},
		// Clients of speech and LLM engines implement the interfaces of media/speech and share an HTTP client.
		"engines": {"engines", "media"},
		// Packages of the command build on each other: data folder, store, backup of the store, administration of the store.
		"cmd/callboard/administration": {"cmd/callboard/services", "cmd/callboard/store", "cmd/callboard/backup"},
		"cmd/callboard/backup":         {"cmd/callboard/datafolder", "cmd/callboard/store"},
		"cmd/callboard/blobstore":      {"cmd/callboard/datafolder", "cmd/callboard/egress"},
		"cmd/callboard/cli":            {"cmd/callboard/cli"}, // subcommands share the output of events, campaigns and nodes
		"cmd/callboard/demo":           {"cmd/callboard/logging"},
		"cmd/callboard/eventforward":   {"cmd/callboard/cli"},
		"cmd/callboard/membership":     {"cmd/callboard/datafolder"},
		"cmd/callboard/settings":       {"cmd/callboard/setup"},
		"cmd/callboard/store":          {"cmd/callboard/blobstore", "cmd/callboard/datafolder", "cmd/callboard/membership"},
		// The package server is the composition root: it connects the packages of the command.
		"cmd/callboard/server": {"cmd"},
	}
	return list
}

// libraries lists the third-party modules that a folder may import. A folder
// that is missing in this list may import all modules except those that foreign lists for the folder.
func libraries() map[string][]string {
	domain := []string{"github.com/oklog/ulid", "github.com/nyaruka/phonenumbers", "github.com/go-json-experiment/json"}
	return map[string][]string{
		"domain":                  domain,
		"domain/validation":       append(slices.Clone(domain), "github.com/santhosh-tekuri/jsonschema"),
		"media":                   {"github.com/pion", "github.com/rivo/uniseg", "golang.org/x/net", "golang.org/x/sys", "google.golang.org/protobuf/encoding/protowire"},
		"sip":                     {"github.com/emiago/sipgo", "github.com/hashicorp/golang-lru"},
		"sip/auth":                {"github.com/emiago/sipgo", "github.com/hashicorp/golang-lru", "github.com/icholy/digest"},
		"sip/message":             {"github.com/emiago/sipgo"},
		"sip/outcome":             {"github.com/emiago/sipgo"},
		"sip/ratelimit":           {"github.com/hashicorp/golang-lru"},
		"sip/registrar":           {"github.com/emiago/sipgo"},
		"sip/resolve":             {"github.com/hashicorp/golang-lru", "github.com/miekg/dns", "golang.org/x/sync/singleflight"},
		"sip/siptest":             {"github.com/miekg/dns"},
		"sip/transport":           {"github.com/emiago/sipgo", "github.com/hashicorp/golang-lru", "golang.org/x/sys"},
		"persistence":             {"github.com/redis/go-redis", "github.com/cockroachdb/pebble", "github.com/klauspost/compress", "github.com/minio/minio-go", "golang.org/x/sync/errgroup", "golang.org/x/sys"},
		"persistence/lease":       {"github.com/redis/go-redis"},
		"configs":                 {"github.com/knadh/koanf"},
		"client":                  nil, // programs outside of this repository import it
		"cmd/callboard/cli":       {"github.com/spf13", "github.com/schollz/progressbar", "golang.org/x/term"},
		"cmd/callboard/doctor":    {"github.com/redis/go-redis", "golang.org/x/sys"},
		"cmd/callboard/setup":     nil,
		"persistence/lease/redis": {"github.com/redis/go-redis"},
	}
}

// foreign lists, for each folder, the third-party modules that the folder must not import, because they belong to another layer.
func foreign() map[string][]string {
	wire := []string{"github.com/redis", "github.com/cockroachdb", "github.com/emiago", "github.com/pion"}
	inner := append(slices.Clone(wire), "github.com/gofiber", "github.com/danielgtaylor", "github.com/knadh")
	return map[string][]string{
		"engines": append([]string{"github.com/asynkron"}, inner...),
		"actors":  inner,
		"service": inner,
		"httpapi": append([]string{"github.com/asynkron"}, wire...),
	}
}

// violation returns a sentence that says why the package importer may not import the package imported. It returns ""
// if the import is allowed. Both arguments are full import paths.
func violation(importer, imported string) string {
	from := strings.TrimPrefix(importer, module+"/")
	layer, known := longest(layers(), from)
	if !known && !inside(from, "client") {
		return from + " is in no layer: name it in docs/ARCHITECTURE.md and in layers_test.go"
	}
	to, ours := strings.CutPrefix(imported, module+"/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case ours:
		return violationOfOurs(from, to, layer)
	case !strings.Contains(first, "."): // the standard library
		if inside(from, "domain") && (slices.Contains([]string{"net/http", "os", "log/slog"}, imported) || imported == "context" && from != "domain/commit") {
			return fmt.Sprintf("%s imports %s: the domain does no I/O, waits for nothing and logs nothing", from, imported)
		}
		return ""
	case isTestLibrary(imported):
		if strings.HasSuffix(from, "test") {
			return ""
		}
		return fmt.Sprintf("%s imports %s: only tests and the packages that serve them do", from, imported)
	}
	if allowed, limited := longest(libraries(), from); limited {
		if !slices.ContainsFunc(allowed, func(l string) bool { return inside(imported, l) }) {
			return fmt.Sprintf("%s imports %s: of third parties it may import %v", from, imported, allowed)
		}
		return ""
	}
	if never, _ := longest(foreign(), from); slices.ContainsFunc(never, func(l string) bool { return inside(imported, l) }) {
		return fmt.Sprintf("%s imports %s: that belongs to another layer", from, imported)
	}
	return ""
}

func violationOfOurs(from, to string, layer int) string {
	reason := ""
	switch other, known := longest(layers(), to); {
	case inside(from, "client"):
		reason = "the client brings nothing along"
	case inside(to, "client"):
		if !inside(from, "cmd") {
			reason = "only commands use the client"
		}
	case !known:
		reason = "it is in no layer"
	case other > layer:
		reason = "it is in a layer above"
	case other == layer:
		if !isSiblingAllowed(from, to) {
			reason = "inside a layer only the imports of siblings() are allowed"
		}
	case to == "configs" && layer < 7:
		reason = "only commands read the configuration"
	case layer == 3 && to != "domain" && !inside(to, "domain"):
		reason = "the outside world knows the domain only"
	case inside(from, "media") || inside(from, "engines/content"):
		reason = "it knows no calls"
	case inside(from, "httpapi") && !inside(to, "domain") && !inside(to, "service"):
		reason = "the API asks services"
	case inside(to, "persistence") && layer < 7:
		reason = "declare the store that you need as an interface"
	case inside(from, "cmd/callboard/cli"), inside(from, "cmd/callboard/doctor") && to != "configs" && !inside(to, "media/vad"), inside(from, "cmd/callboard/setup") && to != "configs":
		reason = "these commands use the API and the configuration only"
	}
	if reason == "" {
		return ""
	}
	return fmt.Sprintf("%s imports %s: %s", from, to, reason)
}

func isSiblingAllowed(from, to string) bool {
	top, _, _ := strings.Cut(from, "/")
	switch {
	case from == to, inside(to, from) && top != "actors" && top != "service": // its own subpackage
		return true
	case strings.HasSuffix(from, "test") && inside(to, top): // a package of test helpers
		return true
	case to == top && (top == "domain" || top == "persistence" || top == "httpapi" || top == "media"),
		top == "actors" && to == "actors/mailbox", top == "service" && inside(to, "service/record"),
		(top == "persistence" || top == "media" || top == "httpapi") && inside(to, top):
		return !inside(from, "persistence/lease") || inside(to, "persistence/lease")
	case strings.HasPrefix(from, "cmd/callboard/") && strings.HasPrefix(to, "cmd/callboard/") && inside(from, to): // shared by the commands of a group
		return true
	}
	allowed, _ := longest(siblings(), from)
	return slices.ContainsFunc(allowed, func(a string) bool { return inside(to, a) })
}

// longest returns the value of the longest folder in byFolder that contains path.
func longest[V any](byFolder map[string]V, path string) (value V, found bool) {
	best := ""
	for folder, v := range byFolder {
		if inside(path, folder) && len(folder) > len(best) {
			best, value, found = folder, v, true
		}
	}
	return value, found
}

func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func isTestLibrary(path string) bool {
	return inside(path, "github.com/stretchr/testify") || inside(path, "pgregory.net/rapid") || inside(path, "github.com/alicebob/miniredis")
}

type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var list []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			require.NoError(t, err)
		}
		if p.ImportPath != module { // this test
			list = append(list, p)
		}
	}
}

func TestImportsRunDownwardsOnly(t *testing.T) {
	list := packages(t)
	assert.Greater(t, len(list), 10, "go list found too little")
	for _, p := range list {
		imports := p.Imports
		// Tests may import packages that the tested package may not import. Tests of the
		// API are the exception, because the API must not depend on the implementation behind it.
		if strings.HasPrefix(p.ImportPath, module+"/httpapi") {
			for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
				if !isTestLibrary(imported) {
					imports = append(imports, imported)
				}
			}
		}
		sentences := make(map[string]bool)
		for _, imported := range imports {
			sentences[violation(p.ImportPath, imported)] = true
		}
		for _, sentence := range slices.Sorted(maps.Keys(sentences)) {
			if sentence != "" {
				t.Error(sentence)
			}
		}
	}
}

func TestTopLevelFoldersAreThoseOfTheArchitecture(t *testing.T) {
	allowed := []string{"actors", "client", "cmd", "configs", "deploy", "docs", "domain", "engines", "httpapi", "media", "persistence", "service", "sip"}
	made := []string{"bin", "data"} // not part of the repository
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(made, e.Name()) {
			assert.Contains(t, allowed, e.Name(), "a folder at the top that the architecture does not name")
		}
	}
}

func TestViolationNamesForbiddenImports(t *testing.T) {
	const (
		testify = "github.com/stretchr/testify/require"
		actor   = "github.com/asynkron/protoactor-go/actor"
	)
	for _, c := range []struct {
		from, to  string
		forbidden bool
	}{
		{"domain", "time", false},
		{"domain", "github.com/oklog/ulid/v2", false},
		{"domain", module + "/domain/event", false},
		{"domain", "context", true},
		{"domain", "github.com/pion/rtp", true},
		{"domain", module + "/actors/call", true},
		{"domain/event", module + "/domain", false},
		{"domain/calendar", module + "/domain/dialer", true},
		{"domain/dialer", module + "/domain/calendar", false},
		{"domain/dialer", "os", true},
		{"domain/commit", "context", false},
		{"domain/commit", "net/http", true},
		{"media/reception", module + "/media", false},
		{"media/testspeech", module + "/media/wav", false},
		{"media/testspeech", testify, true},
		{"client", module + "/domain", true},
		{"client", "net/http", false},
		{"client", "github.com/oklog/ulid/v2", true},
		{"media", module + "/domain", true},
		{"media", "github.com/emiago/sipgo/sip", true},
		{"sip", module + "/domain", false},
		{"sip", module + "/sip/message", false},
		{"sip/message", module + "/sip", true},
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
		{"engines/llm", module + "/domain/access", false},
		{"engines/llm", module + "/engines/content", false},
		{"engines/llm", actor, true},
		{"httpapi", "github.com/gofiber/fiber/v2", false},
		{"httpapi", module + "/domain/event", false},
		{"httpapi", module + "/service/calls", false},
		{"httpapi", module + "/actors/call", true},
		{"httpapi", module + "/persistence", true},
		{"httpapi", module + "/sip", true},
		{"httpapi", module + "/media/wav", true},
		{"httpapi", module + "/configs", true},
		{"httpapi", actor, true},
		{"service/calls", module + "/actors/call", false},
		{"service/calls", module + "/service/record", false},
		{"service/calls", module + "/service/sms", true},
		{"service/calls", module + "/persistence", true},
		{"service/calls", "github.com/gofiber/fiber/v2", true},
		{"actors/campaign", module + "/actors/call", false},
		{"actors/campaign", module + "/service/calls", true},
		{"actors/call", module + "/actors/campaign", true},
		{"actors/lines", module + "/actors/call", true},
		{"actors/call", module + "/sip", false},
		{"actors/call", module + "/persistence", true},
		{"actors/call", module + "/httpapi", true},
		{"actors/call", module + "/configs", true},
		{"actors/call", module + "/actors", true},
		{"actors/call", "github.com/emiago/sipgo/sip", true},
		{"actors/mailbox/actortest", module + "/actors/mailbox", false},
		{"actors", "github.com/redis/go-redis/v9", true},
		{"actors", "github.com/gofiber/fiber/v2", true},
		{"cmd/callboard", module + "/configs", false},
		{"cmd/callboard", module + "/actors", false},
		{"cmd/callboard", testify, true},
		{"cmd/callboard/metrics", module + "/actors", false},
		{"cmd/callboard/cli", module + "/client", false},
		{"cmd/callboard/cli", module + "/domain", true},
		{"cmd/callboard/doctor", module + "/configs", false},
		{"cmd/callboard/doctor", module + "/media/vad/silero", false},
		{"cmd/callboard/doctor", module + "/persistence", true},
		{"cmd/callboard/setup", "github.com/spf13/cobra", true},
		{"util", "time", true},
		{"internal/store", "time", true},
	} {
		sentence := violation(module+"/"+c.from, c.to)
		assert.Equal(t, c.forbidden, sentence != "", "%s imports %s: %q", c.from, c.to, sentence)
		if c.forbidden {
			assert.Contains(t, sentence, c.from)
		}
	}
}
