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

// pages returns the paths of all Markdown pages in the root folder and in docs, and that of deploy/sipp.
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

// anchors returns the link targets of the headings of a page, in the form that GitHub gives them.
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

func TestMarkdownLinksHaveTargets(t *testing.T) {
	links, fragments := 0, 0
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
				fragments++
				assert.True(t, anchors(read(t, to))[m[2][1:]], "%s links to %s%s, which has no such heading", page, m[1], m[2])
			}
		}
	}
	assert.Greater(t, links, 50)
	assert.Greater(t, fragments, 20)
}

func TestAnchorsFollowGitHubRules(t *testing.T) {
	text := "# What it costs\n## What it costs\n```sh\n# no heading\n```\n### OAuth 2.0 for people's `programs`\n## See [that](that.md#listed)\n"
	assert.Equal(t, map[string]bool{"what-it-costs": true, "what-it-costs-1": true, "oauth-20-for-peoples-programs": true, "see-that": true}, anchors(text))
}

func TestREADMELinksEveryPageOfDocs(t *testing.T) {
	all, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	readme := read(t, "README.md")
	for _, page := range all {
		assert.Contains(t, readme, "]("+page+")")
	}
}

var metric = regexp.MustCompile(`\bcallboard_[a-z_]+`)

// Every metric that a documentation page mentions must be listed in docs/metrics.md. A test of cmd/callboard compares
// docs/metrics.md with the metrics of the service.
func TestMetricsInDocumentationAreListed(t *testing.T) {
	listed := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `(callboard_[a-z_]+)` \\|").FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		listed[row[1]] = true
	}
	assert.Greater(t, len(listed), 30)
	named := 0
	for _, page := range pages(t) {
		for _, name := range metric.FindAllString(read(t, page), -1) {
			named++
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, part)
			}
			assert.True(t, listed[name], "%s names %s, which docs/metrics.md does not list", page, name)
		}
	}
	assert.Greater(t, named, 2*len(listed)/3)
}

func TestMakeTargetsInDocumentationExist(t *testing.T) {
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		listed[m[1]] = true
	}
	mention := regexp.MustCompile("(?m)(?:`|^|sudo )make ([a-z0-9-]+)")
	for _, page := range pages(t) {
		for _, m := range mention.FindAllStringSubmatch(read(t, page), -1) {
			assert.True(t, listed[m[1]], "%s names make %s, which the Makefile lacks", page, m[1])
		}
	}
}

// A test must run each block of shell commands in the documentation ("sh run"), or this test must list the block with
// the reason.
func TestCommandBlocksAreRunOrHaveAReason(t *testing.T) {
	known := map[string]string{
		"git clone https://github.com/callboard/callboard && cd callboard":                                "the demo of make run has its own test",
		"bin/callboard open    # prints and opens a sign-in link that works once, within five minutes":    "docs/dashboard.md runs it",
		"CALLBOARD_SIP_ADDR=192.168.1.10:5060 CALLBOARD_EGRESS_ALLOW=127.0.0.0/8,192.168.1.0/24 make run": "the addresses are examples",
		"make build": "the tests build the binary",
		"export OPENAI_API_KEY=sk-… CALLBOARD_ENGINES_FILE=/etc/callboard/engines.yaml":                         "key and path are examples; a test of cmd/callboard/server/engines reads the file",
		"CALLBOARD_OTLP_URL=http://127.0.0.1:4318 callboard serve":                                              "the test of metrics starts the service with a collector",
		"callboard init                                    # addresses, TLS, the first trunk, a test call":      "a test passes the answers as flags; the addresses are examples",
		"callboard init                                   # asks for addresses, TLS, a trunk, a number to ring": "the same",
		"make deb && sudo apt-get install ./bin/callboard_*.deb":                                                "a test builds the package and reads it without installing it",
		"callboard backup /backups/monday             # of a running service, or a stopped one":                 "backups have their own tests",
		"callboard release --list                     # what may have gone out since the backup":                "the test of held-back work runs both commands",
		"sudo -u callboard callboard restore /backups/monday --data /var/lib/callboard":                         "the user belongs to the package; a test uses the folder of another user",
		"callboard blobs move": "an end-to-end test moves them",
		"CALLBOARD_BLOBS_URL='s3://calls/eu?endpoint=https://s3.internal:9000&region=eu-central-1'":                                 "the object store is an example",
		`websocat --binary "ws://127.0.0.1:8080/v1/calls/$CALL/listen?mode=listen&ticket=…" | play -t raw -r 8000 -e mu-law -c 1 -`: "it needs a loudspeaker",
	}
	plain := regexp.MustCompile("(?ms)^```sh\n(.*?)\n")
	for _, page := range pages(t) {
		for _, m := range plain.FindAllStringSubmatch(read(t, page), -1) {
			assert.NotEmpty(t, known[m[1]], "%s has commands that no test runs: %s", page, m[1])
		}
	}
}

func TestImagesAreSmallAndShown(t *testing.T) {
	images, err := filepath.Glob("docs/img/*")
	require.NoError(t, err)
	var text strings.Builder
	for _, page := range pages(t) {
		text.WriteString(read(t, page))
	}
	for _, path := range images {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Less(t, info.Size(), int64(100<<10), path)
		assert.Contains(t, text.String(), "img/"+filepath.Base(path)+")", "no page shows it")
	}
	assert.GreaterOrEqual(t, len(images), 3)
}

func TestKeepWritesFiguresBetweenTheirMarkers(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	keep := func(name, lines string) (string, error) {
		cmd := exec.CommandContext(t.Context(), ".ci/keep", page, name)
		cmd.Stdin = strings.NewReader(lines)
		out, err := cmd.Output()
		return string(out), err
	}
	before := "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n<!-- y -->\nother\n<!-- end of y -->\n"
	require.NoError(t, os.WriteFile(page, []byte(before), 0o600))
	printed, err := keep("x", "")
	require.NoError(t, err)
	assert.Empty(t, printed)
	assert.Equal(t, before, read(t, page))
	_, err = keep("z", "1\n")
	require.Error(t, err)
	printed, err = keep("x", "x: 1\n--- FAIL: TestX\n")
	require.NoError(t, err)
	assert.Equal(t, "x: 1\n--- FAIL: TestX\n", printed)
	assert.Contains(t, read(t, page), "x: 1\n--- FAIL: TestX\n")
	printed, err = keep("x", "x: 1\nok\n")
	require.NoError(t, err)
	assert.Equal(t, "x: 1\nok\n", printed)
	assert.Regexp(t, "^a\n<!-- x -->\n```text\n\\d{4}-\\d\\d-\\d\\d, \\w+/\\w+, \\d+ cores\nx: 1\nok\n```\n<!-- end of x -->\nb\n<!-- y -->\nother\n<!-- end of y -->\n$", read(t, page))
	for _, name := range regexp.MustCompile(`(?m)\.ci/keep '\$\(RELIABILITY_DOC\)' (\w+)$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		assert.Contains(t, read(t, "docs/reliability.md"), "<!-- "+name[1]+" -->\n")
		assert.Contains(t, read(t, "docs/reliability.md"), "<!-- end of "+name[1]+" -->\n")
	}
}

var command = regexp.MustCompile(`(?m)^ +(sipp -sf \S+.*)$`)

func TestSIPpScenariosAreListedWithTheirCommands(t *testing.T) {
	page, err := os.ReadFile("deploy/sipp/README.md")
	require.NoError(t, err)
	scenarios, err := filepath.Glob("deploy/sipp/*.xml")
	require.NoError(t, err)
	assert.Greater(t, len(scenarios), 50)
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		usage := command.FindSubmatch(text)
		require.NotNil(t, usage, "%s has no line with its sipp command", path)
		assert.True(t, strings.HasPrefix(string(usage[1]), "sipp -sf "+path+" "), "%s has the command of another scenario: %s", path, usage[1])
		file := filepath.Base(path)
		row := "| [" + strings.TrimSuffix(file, ".xml") + "](" + file + ") | "
		_, rest, found := strings.Cut(string(page), row)
		rest, _, _ = strings.Cut(rest, "\n")
		assert.True(t, found && strings.HasSuffix(rest, " | `"+string(usage[1])+"` |"), "%s is not listed with: %s", path, usage[1])
	}
	assert.Equal(t, len(scenarios), strings.Count(string(page), "\n| ["), "rows without a scenario file")
}

func TestCountUsesLastResultOfEachTest(t *testing.T) {
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

// Each flow in docs/ARCHITECTURE.md must have at most ten steps. The file of each step must exist, and the functions and
// messages that the flow names must be in the code.
func TestFlowsOfTheArchitectureNameExistingCode(t *testing.T) {
	_, text, found := strings.Cut(read(t, "docs/ARCHITECTURE.md"), "\n## Three flows\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n## ")
	identifiers := make(map[string]bool)
	for _, folder := range []string{"actors", "cmd", "domain", "httpapi", "service", "sip"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				for _, word := range regexp.MustCompile(`\w+`).FindAllString(read(t, path), -1) {
					identifiers[word] = true
				}
			}
			return err
		}))
	}
	flows := strings.Split(text, "\n**")[1:]
	require.Len(t, flows, 3)
	for _, flow := range flows {
		steps := regexp.MustCompile("(?m)^[0-9]+\\. `([^`]+)`: ").FindAllStringSubmatch(flow, -1)
		assert.True(t, len(steps) > 5 && len(steps) <= 10, "%d steps of %.30s", len(steps), flow)
		for _, m := range steps {
			assert.FileExists(t, m[1])
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(flow, -1) {
			if name := m[1][strings.LastIndexAny(m[1], ". ")+1:]; name != "go" && !strings.Contains(name, "/") {
				assert.True(t, identifiers[name], "docs/ARCHITECTURE.md names %s, which is not in the code", m[1])
			}
		}
	}
}

// docs/adr/README.md must list each architecture decision record with its title, area, status and date. There must be at
// most 50 records, and each must have the required sections.
func TestDecisionIndexListsAllRecords(t *testing.T) {
	records, err := filepath.Glob("docs/adr/[0-9]*.md")
	require.NoError(t, err)
	assert.LessOrEqual(t, len(records), 50)
	index := read(t, "docs/adr/README.md")
	assert.Equal(t, len(records), strings.Count(index, "\n| ["), "rows of the index")
	head := regexp.MustCompile(`^# (\d{4}): (.+)\n\nStatus: (.+?) *\nDate: (\d{4}-\d\d-\d\d) *\nArea: (.+)\n\n## Context\n(?s:.+)\n## Decision\n(?s:.+)\n## Consequences\n\n\S`)
	for _, path := range records {
		m := head.FindStringSubmatch(read(t, path))
		if assert.NotNil(t, m, "%s: number, title, status, date, area, context, decision and consequences", path) {
			row := fmt.Sprintf("| [%s](%s) | %s | %s | %s | %s |\n", m[1], filepath.Base(path), m[2], m[5], m[3], m[4])
			assert.Contains(t, index, row, path)
		}
	}
}
