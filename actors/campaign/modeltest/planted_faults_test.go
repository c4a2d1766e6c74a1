package modeltest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plantedFault is a defect that the test puts into a copy of the sources and enables by its name. The model has to detect it.
type plantedFault struct {
	name          string
	file          string // relative to the module root
	old, new      string // old must occur exactly once
	expectedFault string
}

func plantedFaults() []plantedFault {
	return []plantedFault{
		{
			"a retry takes the number of the attempt before", "actors/campaign/commit_batch.go",
			`number := int(b.contacts.attempts[next.ordinal]) + 1`,
			`number := int(b.contacts.attempts[next.ordinal]) + 1; if mutant("a retry takes the number of the attempt before") { number = max(1, number-1) }`,
			`attempt 1 .* after 1`,
		},
		{
			"a permit leaks", "actors/lines/lines.go",
			"	l.inUse--\n",
			"	if mutant(\"a permit leaks\") && p.callID != \"\" { return }\n	l.inUse--\n",
			`forgotten`,
		},
		{
			"one line is too many", "actors/lines/lines.go",
			"func New(cfg Config) *Lines {\n",
			"func New(cfg Config) *Lines {\n	cfg.Concurrent += planted(\"one line is too many\")\n",
			`live calls of a workspace that has`,
		},
		{
			"the pace is one too fast", "domain/dialer/next_action.go",
			`n := time.Duration(p.CallsPerMinute)`,
			`n := time.Duration(p.CallsPerMinute + planted("the pace is one too fast"))`,
			`at a pace of`,
		},
		{
			"a retry is due at any hour", "actors/campaign/contact_queue.go",
			`z := q.zoneOf(c, i, now)`,
			`z := q.zoneOf(c, i, now); if mutant("a retry is due at any hour") && s == domain.ContactRetryWait { z = &zone{} }`,
			`rung at .*(hours are|excluded|schedule)`,
		},
		{
			"an end is counted twice", "actors/campaign/commit_batch.go",
			`b.progress.Outcomes[domain.Outcome(after.State.String())]++`,
			`b.progress.Outcomes[domain.Outcome(after.State.String())] += 1 + planted("an end is counted twice")`,
			`in the counters, a recount finds`,
		},
		{
			"an unknown outcome counts as done", "actors/campaign/commit.go",
			`if m.err == nil {`,
			`if m.err == nil || mutant("an unknown outcome counts as done") {`,
			`without an attempt that is durable|in the counters|is not closed|went from|forgotten`,
		},
		{
			"an interrupted attempt is placed again", "actors/campaign/open_attempts.go",
			`case t.row.Boot != boot:`,
			`case t.row.Boot != boot && !mutant("an interrupted attempt is placed again"):`,
			`closed as never sent|rung twice`,
		},
		{
			"a listed number is rung", "actors/campaign/callee_number_grants.go",
			`if n.cfg.Check != nil {`,
			`if n.cfg.Check != nil && !mutant("a listed number is rung") {`,
			`after the number was listed`,
		},
		{
			"an interrupted attempt is billed", "actors/call/final_record.go",
			`return e.Reached &&`,
			`return mutant("an interrupted attempt is billed") && e.Verdict.Reason == domain.ReasonInterrupted || e.Reached &&`,
			`in the ledger`,
		},
	}
}

const switches = `package %s

import "os"

func mutant(name string) bool { return os.Getenv("MUTANT") == name }

func planted(name string) int {
	if mutant(name) {
		return 1
	}
	return 0
}
`

// writeOverlay writes a copy of the sources that contains all planted defects, each of them disabled.
func writeOverlay(t *testing.T, top string) string {
	t.Helper()
	dir, texts := t.TempDir(), make(map[string]string)
	for _, m := range plantedFaults() {
		path := filepath.Join(top, m.file)
		if texts[path] == "" {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			texts[path] = string(text)
		}
		require.Equal(t, 1, strings.Count(texts[path], m.old), "%s has changed: where is %q planted now?", m.file, m.name)
		texts[path] = strings.Replace(texts[path], m.old, m.new, 1)
	}
	for path := range texts {
		folder := filepath.Dir(path)
		texts[filepath.Join(folder, "mutant.go")] = fmt.Sprintf(switches, filepath.Base(folder))
	}
	replace := make(map[string]string)
	for path, text := range texts {
		replace[path] = filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		require.NoError(t, os.WriteFile(replace[path], []byte(text), 0o600))
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, body, 0o600))
	return list
}

// The test checks the model itself. The model must detect each planted defect. Without defects the same sources must pass
// some hundred scenarios. They are built without the race detector, because the defects are not data races.
func TestModelDetectsPlantedFaults(t *testing.T) {
	t.Parallel()
	if os.Getenv("MUTANTS") != "" {
		t.Fatal("a test of mutants within one")
	}
	top, err := filepath.Abs("../../..")
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "mutants.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", writeOverlay(t, top), "-o", binary, "./actors/campaign/modeltest")
	build.Dir, build.Env = top, append(os.Environ(), "CGO_ENABLED=0") // the same build settings as for tests of the binary, so that most packages are cached
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	play := func(name string, from, scenarios int) (string, error) {
		run := exec.CommandContext(t.Context(), binary, "-test.run", "^TestTheModelAllowsWhateverHappens$",
			"-model.from", strconv.Itoa(from), "-model.seeds", strconv.Itoa(scenarios), "-model.shrink=false")
		run.Env = append(os.Environ(), "MUTANT="+name, "MUTANTS=1")
		out, err := run.CombinedOutput()
		return string(out), err
	}
	out1, err := play("none", defaultScenarios+1, 300)
	require.NoError(t, err, "%s", out1)
	for _, m := range plantedFaults() {
		began := time.Now()
		out, err := play(m.name, 1, 150)
		t.Logf("%s: %v", m.name, time.Since(began).Round(time.Millisecond))
		require.Error(t, err, "the model did not detect: %s", m.name)
		assert.Regexp(t, m.expectedFault, out, m.name)
	}
}
