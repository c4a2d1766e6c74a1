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

// The size and the load of the cluster whose limits docs/scale.md calculates.
const (
	nodeCount        = 100
	workspaceCount   = 10_000
	shardCount       = 1024
	callCount        = 100_000 // simultaneous
	redisMemory      = 256.0   // in GB, the memory of a large machine
	retentionDays    = 30.0
	dialingHours     = 10.0 // a day
	redisUtilization = 0.7  // highest utilization of the Redis thread; above it commits queue
	nodeCores        = 16.0
)

// figure is one measured value of docs/scale.md with its description, unit and source.
type figure struct {
	what  string
	value float64
	unit  string
	where string
}

// figures returns the measured values by name. `UPDATE_DOCS=1 go test -run TestScalePage .` writes docs/scale.md.
func figures() map[string]figure {
	const bench, crowd, hundred, demo = "[measurements](benchmarks.md)", "`BenchmarkHundredNodeLeases`", "`BenchmarkHundredNodeCommits`", "a campaign, below"
	return map[string]figure{
		"commits":     {"Commits per call", 4.7, "", demo},
		"all_commits": {"Commits per call with a webhook endpoint for all events", 12.3, "", demo},
		"commit_cpu":  {"CPU time of Redis per commit, 100 processes", 90, "µs", hundred},
		"append":      {"Redis append-only file per call, with the endpoint", 52, "KB", demo},
		"kept":        {"Redis memory per stored call with its rows, with the endpoint", 25, "KB", demo},
		"lease_cpu":   {"CPU time of Redis per second for the leases of 100 nodes", 24, "ms", crowd},
		"lease_calls": {"Redis commands per second for these leases", 160, "", crowd},
		"gone":        {"Orderly stop of one of 100 nodes: time until others own its shards", 0.7, "s", crowd},
		"gone_cpu":    {"CPU time of Redis for this stop", 110, "ms", crowd},
		"gone_bytes":  {"Data that the other nodes read for this stop", 1560, "KB", crowd},
		"sound":       {"CPU cores for the media of 1,000 recorded calls", 0.64, "", bench},
		"call_cpu":    {"CPU time for 1,000 campaign calls on Redis", 1.32, "s", bench},
		"call_memory": {"Node memory per live call", 85, "KB", bench},
	}
}

// order lists the names of the figures in the order in which docs/scale.md shows them.
var order = []string{"commits", "all_commits", "commit_cpu", "append", "kept", "lease_cpu", "lease_calls", "gone", "gone_cpu", "gone_bytes", "sound", "call_cpu", "call_memory"}

// limit is one resource of the cluster and the calls per second at which it is exhausted.
type limit struct {
	what, why string
	perSecond float64
}

// limits returns the limits of a cluster that uses one Redis server.
func limits() []limit {
	f := func(name string) float64 { return figures()[name].value }
	thread := redisUtilization*1e6 - f("lease_cpu")*1e3 // µs a second
	return []limit{
		{"Redis memory", fmt.Sprintf("%.0f GB, %.0f hours of dialing per day, retention %.0f days", redisMemory, dialingHours, retentionDays), redisMemory * 1e6 / f("kept") / (retentionDays * dialingHours * 3600)},
		{"Redis thread, with an endpoint in each workspace", fmt.Sprintf("%.0f %% of one core", 100*redisUtilization), thread / f("commit_cpu") / f("all_commits")},
		{"Redis thread, without endpoints", "the same", thread / f("commit_cpu") / f("commits")},
		{"CPU of 100 nodes", fmt.Sprintf("half of %.0f cores each, calls of 3 min with media", nodeCores), nodeCount * nodeCores / 2 / (f("call_cpu") + 180*f("sound")) * 1000},
	}
}

// largestNode returns the number of workspaces and the number of shards of the node that owns the most workspaces.
func largestNode() (workspaces, shards int) {
	list := make([]lease.Node, nodeCount)
	for i := range list {
		list[i] = lease.Node{ID: fmt.Sprintf("node_%026d", i)}
	}
	of, held, has := lease.PlaceShards(shardCount, list), map[string]int{}, map[string]int{}
	for _, id := range of {
		held[id]++
	}
	for i := range workspaceCount {
		has[of[domain.ShardOf(fmt.Sprintf("ws_%026d", i), shardCount)]]++
	}
	for id, n := range has {
		if n > workspaces {
			workspaces, shards = n, held[id]
		}
	}
	return workspaces, shards
}

// scale returns the three generated tables of docs/scale.md. The results have the names of the markers in that file.
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
	b.WriteString("| 100,000 concurrent calls, each of | 30 s | 3 min | 10 min |\n|---|---|---|---|\n")
	for _, row := range []struct {
		what string
		of   func(perSecond float64) string
	}{
		{"new calls per second", short},
		{"commits per second, without endpoints", func(n float64) string { return short(n * f("commits")) }},
		{"commits per second, with an endpoint in each workspace", func(n float64) string { return short(n * f("all_commits")) }},
		{"share of the Redis thread, without endpoints", func(n float64) string { return share(n*f("commits")*f("commit_cpu")/1e6 + f("lease_cpu")/1e3) }},
		{"share of the Redis thread, with endpoints", func(n float64) string { return share(n*f("all_commits")*f("commit_cpu")/1e6 + f("lease_cpu")/1e3) }},
		{"Redis append-only file per second, and traffic to each replica", func(n float64) string { return short(n*f("append")/1e3) + " MB" }},
		{"growth of Redis memory per day of ten hours", func(n float64) string { return short(n*f("kept")/1e6*dialingHours*3600) + " GB" }},
		{"days until 256 GB are used", func(n float64) string { return short(redisMemory / (n * f("kept") / 1e6 * dialingHours * 3600)) }},
		{"CPU cores per node for call setup and end", func(n float64) string { return short(n / nodeCount * f("call_cpu") / 1000) }},
	} {
		cells := []string{row.what}
		for _, s := range lengths {
			cells = append(cells, row.of(callCount/s))
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	most, shards := largestNode()
	each := float64(callCount) / nodeCount
	b.WriteString("\n| independent of the length of calls | |\n|---|---|\n")
	for _, row := range [][2]string{
		{"calls per node, for equal workspaces", short(each)},
		{"workspaces per node; of the largest node", fmt.Sprintf("%d; %d, in %d shards", workspaceCount/nodeCount, most, shards)},
		{"CPU cores per node for media; of the largest node", short(each/1000*f("sound")) + "; " + short(each/1000*f("sound")*float64(most)*nodeCount/workspaceCount)},
		{"memory per node for calls", short(each*f("call_memory")/1e3) + " MB"},
		{"media traffic per node and direction", short(each*80/1e3) + " Mbit/s, " + short(each*50) + " packets a second"},
		{"RTP and RTCP ports per node", short(2 * each)},
		{"requests that are forwarded to another node", share(1 - 1.0/nodeCount)},
		{"connections to Redis (limit 10,000)", short(nodeCount * 33)},
		{"leases: Redis commands per second; share of the Redis thread", short(f("lease_calls")) + "; " + share(f("lease_cpu")/1e3)},
	} {
		b.WriteString("| " + row[0] + " | " + row[1] + " |\n")
	}
	asked = b.String()

	b.Reset()
	all := limits()
	slices.SortFunc(all, func(a, b limit) int { return cmp.Compare(a.perSecond, b.perSecond) })
	b.WriteString("| resource | limit | new calls per second | concurrent calls of 3 min |\n|---|---|---|---|\n")
	for _, l := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.what, l.why, short(l.perSecond), short(l.perSecond*180))
	}
	return given, asked, b.String()
}

// short formats a number with two significant digits, or with all digits of its integer part.
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

// share formats a fraction in percent.
func share(n float64) string {
	if n < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*n)
	}
	return fmt.Sprintf("%.0f %%", 100*n)
}

func TestScalePageShowsTheCalculation(t *testing.T) {
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
		assert.Equal(t, made, said, "run: UPDATE_DOCS=1 go test -run TestScalePage .")
	}
	assert.Len(t, order, len(figures()))
}

func TestShortRoundsToTwoDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.644: "0.64", 3: "3", 3.14: "3.1", 99.6: "100", 1234: "1,230", 12345: "12,300", 1234567: "1,234,600"} {
		assert.Equal(t, want, short(n))
	}
	assert.Equal(t, []string{"0.5 %", "99 %"}, []string{share(0.0049), share(0.99)})
}
