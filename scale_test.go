package callboard_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// The install that docs/scale.md calculates.
const (
	manyNodes      = 100
	manyWorkspaces = 10_000
	manyShards     = 1024
	manyCalls      = 100_000
	redisMemory    = 256.0 // GB: a large machine
	keptDays       = 30.0
	diallingHours  = 10.0 // a day
	busyRedis      = 0.7  // of its thread: beyond it commits wait for each other
	nodeCores      = 16.0
)

// figure is something that was measured.
type figure struct {
	what  string
	value float64
	unit  string
	where string
}

// figures are what is calculated with. docs/scale.md is written anew by
// UPDATE_DOCS=1 go test -run ThePageSays .
func figures() map[string]figure {
	const bench, crowd, hundred, demo = "[measurements](benchmarks.md)", "`BenchmarkCrowd`", "`BenchmarkAHundredNodes`", "a campaign, below"
	return map[string]figure{
		"commits":     {"Commits of a call", 4.7, "", demo},
		"all_commits": {"The same, with an endpoint that hears of everything", 12.3, "", demo},
		"commit_cpu":  {"Processor of Redis for a commit, 100 processes", 90, "µs", hundred},
		"append":      {"What Redis appends to its file for a call, with the endpoint", 52, "KB", demo},
		"kept":        {"Memory of Redis for such a call that is kept, with all that belongs to it", 25, "KB", demo},
		"lease_cpu":   {"Processor of Redis for the leases of 100 nodes, in a second", 24, "ms", crowd},
		"lease_calls": {"Calls to Redis for these, in a second", 160, "", crowd},
		"gone":        {"A node of 100 is stopped in order: until its shards are others'", 0.7, "s", crowd},
		"gone_cpu":    {"Processor of Redis for that", 110, "ms", crowd},
		"gone_bytes":  {"What the others read for that", 1560, "KB", crowd},
		"sound":       {"Cores for the sound of 1,000 calls, recorded", 0.64, "", bench},
		"call_cpu":    {"Processor for 1,000 calls of a campaign, on Redis", 1.32, "s", bench},
		"call_memory": {"Memory of a node for a call that lives", 85, "KB", bench},
	}
}

// order is how they stand on the page.
var order = []string{"commits", "all_commits", "commit_cpu", "append", "kept", "lease_cpu", "lease_calls", "gone", "gone_cpu", "gone_bytes", "sound", "call_cpu", "call_memory"}

// limit is a part of the install and how many calls may begin in a second until
// it is full.
type limit struct {
	what, why string
	perSecond float64
}

// limits are those of one install on one Redis.
func limits() []limit {
	f := func(name string) float64 { return figures()[name].value }
	thread := busyRedis*1e6 - f("lease_cpu")*1e3 // µs a second
	return []limit{
		{"Redis's memory", fmt.Sprintf("%.0f GB, %.0f hours of dialling a day, kept for %.0f days", redisMemory, diallingHours, keptDays), redisMemory * 1e6 / f("kept") / (keptDays * diallingHours * 3600)},
		{"Redis's thread, with an endpoint in each workspace", fmt.Sprintf("%.0f %% of one core", 100*busyRedis), thread / f("commit_cpu") / f("all_commits")},
		{"Redis's thread, without endpoints", "the same", thread / f("commit_cpu") / f("commits")},
		{"The processors of 100 nodes", fmt.Sprintf("half of %.0f cores each, for calls of 3 min and their sound", nodeCores), manyNodes * nodeCores / 2 / (f("call_cpu") + 180*f("sound")) * 1000},
	}
}

// spread is how many workspaces the node has that has most of them, and how many
// shards that is.
func spread() (most, its int) {
	list := make([]lease.Node, manyNodes)
	for i := range list {
		list[i] = lease.Node{ID: fmt.Sprintf("node_%026d", i)}
	}
	of, held, has := lease.Places(manyShards, list), map[string]int{}, map[string]int{}
	for _, id := range of {
		held[id]++
	}
	for i := range manyWorkspaces {
		has[of[domain.ShardOf(fmt.Sprintf("ws_%026d", i), manyShards)]]++
	}
	for id, n := range has {
		if n > most {
			most, its = n, held[id]
		}
	}
	return most, its
}

// scale is what the page says between its markers.
func scale() (given, asked, first string) {
	f := func(name string) float64 { return figures()[name].value }
	var b strings.Builder
	b.WriteString("| | | from |\n|---|---|---|\n")
	for _, name := range order {
		x := figures()[name]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x.what, strings.TrimSpace(short(x.value)+" "+x.unit), x.where)
	}
	given = b.String()

	b.Reset()
	lengths := []float64{30, 180, 600}
	b.WriteString("| 100,000 calls at a time, each of | 30 s | 3 min | 10 min |\n|---|---|---|---|\n")
	for _, row := range []struct {
		what string
		of   func(perSecond float64) string
	}{
		{"calls that begin in a second", short},
		{"commits in a second, without endpoints", func(n float64) string { return short(n * f("commits")) }},
		{"commits in a second, with an endpoint in each workspace", func(n float64) string { return short(n * f("all_commits")) }},
		{"of Redis's one thread, without endpoints", func(n float64) string { return share(n*f("commits")*f("commit_cpu")/1e6 + f("lease_cpu")/1e3) }},
		{"the same, with endpoints", func(n float64) string { return share(n*f("all_commits")*f("commit_cpu")/1e6 + f("lease_cpu")/1e3) }},
		{"what Redis appends in a second, and sends to each replica", func(n float64) string { return short(n*f("append")/1e3) + " MB" }},
		{"what its memory grows by in a day of ten hours", func(n float64) string { return short(n*f("kept")/1e6*diallingHours*3600) + " GB" }},
		{"days until 256 GB are full", func(n float64) string { return short(redisMemory / (n * f("kept") / 1e6 * diallingHours * 3600)) }},
		{"cores of a node for calls that begin and end", func(n float64) string { return short(n / manyNodes * f("call_cpu") / 1000) }},
	} {
		cells := []string{row.what}
		for _, s := range lengths {
			cells = append(cells, row.of(manyCalls/s))
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	most, its := spread()
	each := float64(manyCalls) / manyNodes
	b.WriteString("\n| whatever their length | |\n|---|---|\n")
	for _, row := range [][2]string{
		{"calls of a node, if the workspaces are alike", short(each)},
		{"workspaces of a node; of the one that has most", fmt.Sprintf("%d; %d, in %d shards", manyWorkspaces/manyNodes, most, its)},
		{"cores of a node for sound; of the one that has most", short(each/1000*f("sound")) + "; " + short(each/1000*f("sound")*float64(most)*manyNodes/manyWorkspaces)},
		{"memory of a node for calls", short(each*f("call_memory")/1e3) + " MB"},
		{"sound of a node, each way", short(each*80/1e3) + " Mbit/s, " + short(each*50) + " packets a second"},
		{"ports for sound of a node", short(2 * each)},
		{"requests that come to a node that has not their workspace", share(1 - 1.0/manyNodes)},
		{"connections to Redis, of 10,000 that it takes", short(manyNodes * 33)},
		{"leases: calls to Redis in a second; of its thread", short(f("lease_calls")) + "; " + share(f("lease_cpu")/1e3)},
	} {
		b.WriteString("| " + row[0] + " | " + row[1] + " |\n")
	}
	asked = b.String()

	b.Reset()
	all := limits()
	slices.SortFunc(all, func(a, b limit) int { return cmp.Compare(a.perSecond, b.perSecond) })
	b.WriteString("| | full where | calls that begin in a second | so many at a time, of 3 min |\n|---|---|---|---|\n")
	for _, l := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.what, l.why, short(l.perSecond), short(l.perSecond*180))
	}
	return given, asked, b.String()
}

// short is a number with two figures that count, or all before the point.
func short(n float64) string {
	switch a := math.Abs(n); {
	case a >= 1e4:
		s := fmt.Sprintf("%.0f", math.Round(n/100)*100)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	case a >= 1000:
		s := fmt.Sprintf("%.0f", math.Round(n/10)*10)
		return s[:len(s)-3] + "," + s[len(s)-3:]
	case a >= 10 || a == math.Trunc(a):
		return fmt.Sprintf("%.0f", n)
	case a >= 1:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

func share(n float64) string {
	if n < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*n)
	}
	return fmt.Sprintf("%.0f %%", 100*n)
}

func TestThePageSaysHowFarItReachesAsItIsCalculated(t *testing.T) {
	const path = "docs/scale.md"
	text := read(t, path)
	given, asked, first := scale()
	for name, made := range map[string]string{"given": given, "asked": asked, "first": first} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		require.True(t, found, begin)
		said, after, found := strings.Cut(rest, end)
		require.True(t, found, end)
		if os.Getenv("UPDATE_DOCS") != "" {
			text = before + begin + made + end + after
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			continue
		}
		assert.Equal(t, made, said, "run: UPDATE_DOCS=1 go test -run ThePageSays .")
	}
	assert.Len(t, order, len(figures()))
}

func TestNumbersOfThePageAreShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.644: "0.64", 3: "3", 3.14: "3.1", 99.6: "100", 1234: "1,230", 12345: "12,300", 1234567: "1,234,600"} {
		assert.Equal(t, want, short(n))
	}
	assert.Equal(t, []string{"0.5 %", "99 %"}, []string{share(0.0049), share(0.99)})
}
