package callboard_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// pages are the documents that people read.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.md")
	require.NoError(t, err)
	all = append(all, "deploy/sipp/README.md")
	require.NoError(t, filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	}))
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// anchors are the places of a page that links can name, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.ReplaceAll(link.ReplaceAllString(m[1], ""), "[", ""))
		for i, first := 1, name; all[name]; i++ {
			name = first + "-" + strconv.Itoa(i)
		}
		all[name] = true
	}
	return all
}

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	links, places := 0, 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			_, err := os.Stat(to)
			require.NoError(t, err, "%s links to %s", page, m[1])
			if m[2] != "" && strings.HasSuffix(to, ".md") {
				places++
				assert.True(t, anchors(read(t, to))[m[2][1:]], "%s links to %s%s, which has no such heading", page, m[1], m[2])
			}
		}
	}
	assert.Greater(t, links, 50)
	assert.Greater(t, places, 20)
}

func TestThePlacesOfAPageAreNamedAsTheyAreShown(t *testing.T) {
	text := "# What it costs\n## What it costs\n```sh\n# no heading\n```\n### OAuth 2.0 for people's `programs`\n## See [that](that.md#there)\n"
	assert.Equal(t, map[string]bool{"what-it-costs": true, "what-it-costs-1": true, "oauth-20-for-peoples-programs": true, "see-that": true}, anchors(text))
}

// The README leads to every page, or nobody finds it.
func TestTheMapOfTheREADMENamesEveryPage(t *testing.T) {
	all, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	front := read(t, "README.md")
	for _, page := range all {
		assert.Contains(t, front, "]("+page+")")
	}
}

var metric = regexp.MustCompile(`\bcallboard_[a-z_]+`)

// docs/metrics.md is held to what the service tells by a test of the whole
// binary; what other pages name has to stand there.
func TestEveryMetricThatThePagesNameExists(t *testing.T) {
	there := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `(callboard_[a-z_]+)` \\|").FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		there[row[1]] = true
	}
	assert.Greater(t, len(there), 30)
	named := 0
	for _, page := range pages(t) {
		for _, name := range metric.FindAllString(read(t, page), -1) {
			named++
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, part)
			}
			assert.True(t, there[name], "%s names %s, which nobody tells", page, name)
		}
	}
	assert.Greater(t, named, 2*len(there)/3)
}

func TestEveryTargetThatThePagesNameExists(t *testing.T) {
	there := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		there[m[1]] = true
	}
	told := regexp.MustCompile("(?m)(?:`|^|sudo )make ([a-z0-9-]+)")
	for _, page := range pages(t) {
		for _, m := range told.FindAllStringSubmatch(read(t, page), -1) {
			assert.True(t, there[m[1]], "%s tells of make %s", page, m[1])
		}
	}
}

// Blocks of commands are run by the tests of the pages, but for those that
// cannot be: each has a reason.
func TestCommandsAreRunOrSayWhyNot(t *testing.T) {
	known := map[string]string{
		"git clone https://github.com/callboard/callboard && cd callboard":                                "make run is the demo, which has a test of its own",
		"bin/callboard users create Ada --role admin --environment test    # prints an id":                "the page of the dashboard runs them",
		"CALLBOARD_SIP_ADDR=192.168.1.10:5060 CALLBOARD_EGRESS_ALLOW=127.0.0.0/8,192.168.1.0/24 make run": "the addresses are the reader's",
		"make build": "the tests build it",
		"CALLBOARD_OTLP_URL=http://127.0.0.1:4318 callboard serve":                                              "the test of metrics serves with a collector",
		"callboard init                                    # addresses, TLS, the first trunk, a test call":      "a test sets a service up by flags; the addresses are the reader's",
		"callboard init                                   # asks for addresses, TLS, a trunk, a number to ring": "the same",
		"make deb && sudo apt-get install ./bin/callboard_*.deb":                                                "a test builds the package and looks into it; nothing is installed",
		"callboard backup /backups/monday             # of a running service, or a stopped one":                 "backups have tests of their own",
		"callboard release --list                     # what may have gone out since the backup":                "the test of the quarantine runs both",
		"sudo -u callboard callboard restore /backups/monday --data /var/lib/callboard":                         "the user is that of the package; a test plays another user's folder",
		"callboard blobs move": "a test of the whole binary moves them",
		"CALLBOARD_BLOBS_URL='s3://calls/eu?endpoint=https://s3.internal:9000&region=eu-central-1'":                                 "the store is the reader's",
		`websocat --binary "ws://127.0.0.1:8080/v1/calls/$CALL/listen?mode=listen&ticket=…" | play -t raw -r 8000 -e mu-law -c 1 -`: "it takes a loudspeaker",
	}
	plain := regexp.MustCompile("(?ms)^```sh\n(.*?)\n")
	for _, page := range pages(t) {
		for _, m := range plain.FindAllStringSubmatch(read(t, page), -1) {
			assert.NotEmpty(t, known[m[1]], "%s has commands that nobody runs: %s", page, m[1])
		}
	}
}

func TestThePicturesAreSmallAndShown(t *testing.T) {
	pictures, err := filepath.Glob("docs/img/*")
	require.NoError(t, err)
	var text strings.Builder
	for _, page := range pages(t) {
		text.WriteString(read(t, page))
	}
	for _, path := range pictures {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Less(t, info.Size(), int64(100<<10), path)
		assert.Contains(t, text.String(), "img/"+filepath.Base(path)+")", "nobody shows it")
	}
	assert.GreaterOrEqual(t, len(pictures), 3)
}

// What a measurement printed is kept in its place of a page, also what failed.
func TestFiguresAreKeptInTheirPlace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	keep := func(name, lines string) (string, error) {
		cmd := exec.CommandContext(t.Context(), ".ci/keep", page, name)
		cmd.Stdin = strings.NewReader(lines)
		out, err := cmd.Output()
		return string(out), err
	}
	before := "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n<!-- y -->\nother\n<!-- end of y -->\n"
	require.NoError(t, os.WriteFile(page, []byte(before), 0o600))
	said, err := keep("x", "")
	require.NoError(t, err)
	assert.Empty(t, said)
	assert.Equal(t, before, read(t, page))
	_, err = keep("z", "1\n")
	require.Error(t, err)
	said, err = keep("x", "x: 1\n--- FAIL: TestX\n")
	require.NoError(t, err)
	assert.Equal(t, "x: 1\n--- FAIL: TestX\n", said)
	assert.Contains(t, read(t, page), "x: 1\n--- FAIL: TestX\n")
	said, err = keep("x", "x: 1\nok\n")
	require.NoError(t, err)
	assert.Equal(t, "x: 1\nok\n", said)
	assert.Regexp(t, "^a\n<!-- x -->\n```text\n\\d{4}-\\d\\d-\\d\\d, \\w+/\\w+, \\d+ cores\nx: 1\nok\n```\n<!-- end of x -->\nb\n<!-- y -->\nother\n<!-- end of y -->\n$", read(t, page))
	for _, name := range regexp.MustCompile(`(?m)\.ci/keep '\$\(RELIABILITY_DOC\)' (\w+)$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		assert.Contains(t, read(t, "docs/reliability.md"), "<!-- "+name[1]+" -->\n")
		assert.Contains(t, read(t, "docs/reliability.md"), "<!-- end of "+name[1]+" -->\n")
	}
}

var command = regexp.MustCompile(`(?m)^ +(sipp -sf \S+.*)$`)

func TestEveryScenarioIsListedWithItsCommand(t *testing.T) {
	page, err := os.ReadFile("deploy/sipp/README.md")
	require.NoError(t, err)
	scenarios, err := filepath.Glob("deploy/sipp/*.xml")
	require.NoError(t, err)
	assert.Greater(t, len(scenarios), 50)
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		told := command.FindSubmatch(text)
		require.NotNil(t, told, "%s does not say how it is run", path)
		assert.True(t, strings.HasPrefix(string(told[1]), "sipp -sf "+path+" "), "%s says how another one is run: %s", path, told[1])
		file := filepath.Base(path)
		row := "| [" + strings.TrimSuffix(file, ".xml") + "](" + file + ") | "
		_, rest, found := strings.Cut(string(page), row)
		rest, _, _ = strings.Cut(rest, "\n")
		assert.True(t, found && strings.HasSuffix(rest, " | `"+string(told[1])+"` |"), "%s is not listed with: %s", path, told[1])
	}
	assert.Equal(t, len(scenarios), strings.Count(string(page), "\n| ["), "rows for files that are gone")
}

func TestCountTakesTheLastResultOfEachTest(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		lines  []string
		says   []string
		last   string
	}{
		"all pass": {"0", []string{"pass a TestX/one", "pass a TestX/two", "pass a TestX", "pass a"}, nil, "2 passed, 0 failed"},
		"a test passes in its second run": {
			"0",
			[]string{"fail a TestX/one", "fail a TestX", "pass a TestY", "fail a", "pass a TestX/one", "pass a TestX", "pass a"},
			[]string{"ran again: TestX (a): pass"},
			"2 passed, 0 failed",
		},
		"a test fails twice": {
			"1",
			[]string{"fail a TestX/one", "fail a TestX", "pass a TestY", "fail a", "fail a TestX/one", "fail a TestX", "fail a"},
			[]string{"ran again: TestX (a): fail"},
			"1 passed, 1 failed",
		},
		"a test is skipped":                    {"0", []string{"skip a TestX", "pass a TestY", "pass a"}, []string{"skipped, which proves nothing: TestX (a)"}, "1 passed, 1 failed"},
		"a package does not compile":           {"1", []string{"fail b", "pass a TestY", "pass a"}, nil, "1 passed, 1 failed"},
		"a package ends by itself":             {"1", []string{"pass a TestY", "fail a"}, nil, "1 passed, 1 failed"},
		"go test fails and does not say where": {"1", []string{"pass a TestY", "pass a"}, nil, "1 passed, 1 failed"},
		"a test with subtests fails by itself": {"1", []string{"pass a TestX/one", "fail a TestX", "fail a"}, nil, "1 passed, 1 failed"},
		"a package without tests":              {"0", []string{"skip b", "pass a TestY", "pass a"}, nil, "1 passed, 0 failed"},
		"no test ran":                          {"0", nil, nil, "0 passed, 0 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			var events strings.Builder
			for _, l := range c.lines {
				f := strings.Fields(l + " ")
				if len(f) < 3 {
					f = append(f, "")
				}
				fmt.Fprintf(&events, `{"Action":%q,"Package":%q,"Test":%q,"Elapsed":1}`+"\n", f[0], f[1], f[2])
			}
			file := filepath.Join(t.TempDir(), "events")
			require.NoError(t, os.WriteFile(file, []byte(events.String()), 0o600))
			out, err := exec.CommandContext(t.Context(), ".ci/count", c.status, file).Output()
			text := strings.TrimSpace(string(out))
			for _, s := range c.says {
				assert.Contains(t, text, s)
			}
			assert.Equal(t, c.last, text[strings.LastIndexByte(text, '\n')+1:])
			assert.Equal(t, strings.HasSuffix(c.last, " 0 failed") && c.last[0] != '0', err == nil, "%v", err)
		})
	}
}
