package main_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

// benchOther is the path of another build of the service, which BenchmarkCompare compares with -bench-binary.
var benchOther = flag.String("bench-other", "", "service that BenchmarkCompare measures in turns with that of -bench-binary") //nolint:gochecknoglobals // a flag

// compareRounds is how often BenchmarkCompare measures each build.
const compareRounds = 5

// buildComparison contains the measurements of one figure for two builds of the service.
type buildComparison struct {
	what    string
	decimal int
	figures [2][]float64 // measurements of -bench-binary and of -bench-other
}

// medianAndSpread returns the median of the measurements of a build, and the difference between the largest and the
// smallest.
func (c *buildComparison) medianAndSpread(build int) (median, spread float64) {
	f := slices.Sorted(slices.Values(c.figures[build]))
	if len(f) == 0 {
		return 0, 0
	}
	return f[len(f)/2], f[len(f)-1] - f[0]
}

// BenchmarkCompare measures calls, media and conversation turns of two builds of the service in alternation, five times
// each. It prints the median and the spread of both builds.
func BenchmarkCompare(b *testing.B) {
	if *benchOther == "" {
		b.Skip("make bench-compare REV=… compares with another revision")
	}
	rows := []*buildComparison{
		{what: "CPU per 1000 calls without media, one request each, s", decimal: 3},
		{what: "CPU per 1000 inbound calls without media, s", decimal: 3},
		{what: "Cores per 1000 calls with media", decimal: 3},
		{what: "p99 of the interval of packets of 1000 calls, ms", decimal: 1},
		{what: "Memory per call of 1000 calls with media, above idle, KB", decimal: 1},
		{what: "p50 of the latency that the service adds to a turn, 200 conversations, ms", decimal: 0},
		{what: "p95 of this latency, ms", decimal: 0},
	}
	own := *benchBinary
	defer func() { *benchBinary = own }()
	for round := range compareRounds {
		for turn := range 2 {
			build := (round + turn) % 2 // the builds take turns at being measured first
			*benchBinary = []string{own, *benchOther}[build]
			keep := func(row int, figure float64) { rows[row].figures[build] = append(rows[row].figures[build], figure) }
			// Each service ends before the next one starts, because they use the same media ports.
			b.Run(fmt.Sprintf("round %d/%s/calls", round+1, []string{"this", "other"}[build]), func(b *testing.B) {
				per, _, _ := measureCallsByRequest(b)
				keep(0, per)
			})
			b.Run(fmt.Sprintf("round %d/%s/inbound", round+1, []string{"this", "other"}[build]), func(b *testing.B) {
				_, in := measureInbound(b)
				keep(1, in.cpuPer1000())
			})
			b.Run(fmt.Sprintf("round %d/%s/media", round+1, []string{"this", "other"}[build]), func(b *testing.B) {
				t := measureMedia(b, 1000)
				keep(2, t.cores)
				keep(3, t.heard.P99Ms)
				keep(4, (t.rss-t.idle)/1024/1000)
			})
			b.Run(fmt.Sprintf("round %d/%s/turns", round+1, []string{"this", "other"}[build]), func(b *testing.B) {
				s, far := newServiceWithInstantEngines(b), startTalkerProcess(b, shortSpeech(b))
				s.createTrunkForAllNumbers(far.port)
				l := measureTurns(b, s, far, s.createAgent(repeatingPathway("Go on.")), 200)
				keep(5, l.p50())
				keep(6, l.p95())
			})
		}
	}
	printComparison(rows)
}

// printComparison prints the comparisons as a Markdown table.
func printComparison(rows []*buildComparison) {
	lines := [][]string{{"What", "This revision: median (spread)", "Other revision", "Difference"}}
	for _, r := range rows {
		ours, spread := r.medianAndSpread(0)
		theirs, otherSpread := r.medianAndSpread(1)
		difference := "–"
		if theirs > 0 {
			difference = fmt.Sprintf("%+.1f %%", 100*(ours-theirs)/theirs)
		}
		cell := func(median, spread float64) string {
			return fmt.Sprintf("%.*f (%.*f)", r.decimal, median, r.decimal, spread)
		}
		lines = append(lines, []string{r.what, cell(ours, spread), cell(theirs, otherSpread), difference})
	}
	fmt.Println()
	writeTable(os.Stdout, lines)
}
