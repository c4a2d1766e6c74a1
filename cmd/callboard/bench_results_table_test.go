package main_test

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// benchDoc is the path of the file to which the table of measurements is written. The table is also printed.
var benchDoc = flag.String("bench-doc", "", "file that the table of measurements is written to") //nolint:gochecknoglobals // a flag

// benchBinary is the path of the service program that the benchmarks measure.
var benchBinary = flag.String("bench-binary", "../../bin/callboard", "service that is measured; make build makes it") //nolint:gochecknoglobals // a flag

// benchResults collects the results of all benchmarks, which are printed as one table.
var benchResults benchTable //nolint:gochecknoglobals // benchmarks share nothing else

type benchTable struct {
	mu   sync.Mutex
	rows []benchRow
}

// benchRow is the result of one measurement. use contains the average number of CPU cores in use.
type benchRow struct {
	what, goal, figure string
	met                bool // whether a row with a goal meets it
	use                string
}

func (r *benchTable) add(what, goal, figure string, met bool, u *usage) {
	used := "–"
	if u != nil {
		used = fmt.Sprintf("%.2f / %.2f / %.2f", u.serviceCores, u.peerCores, u.others)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, benchRow{what, goal, figure, met, used})
}

// addRowOnFailure adds a row that says so if the benchmark fails.
func (r *benchTable) addRowOnFailure(b *testing.B) {
	b.Helper()
	b.Cleanup(func() {
		if b.Failed() {
			r.add(b.Name(), "measured", "failed", false, nil)
		}
	})
}

// writeTable writes all results as a Markdown table.
func (r *benchTable) writeTable(w io.Writer) {
	lines := [][]string{{"What", "Goal", "Measured", "Met", "Cores: service / peer / others"}}
	for _, x := range r.rows {
		met := "yes"
		switch {
		case x.goal == "":
			met = "–"
		case !x.met:
			met = "**no**"
		}
		lines = append(lines, []string{x.what, cmp.Or(x.goal, "–"), x.figure, met, x.use})
	}
	writeTable(w, lines)
}

// writeTable writes lines of cells as a Markdown table. The first line contains the headings.
func writeTable(w io.Writer, lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, cell := range l {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, l := range lines {
		for i, cell := range l {
			_, _ = fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
		}
		_, _ = fmt.Fprintln(w, "|")
		if n > 0 {
			continue
		}
		for _, n := range width {
			_, _ = fmt.Fprintf(w, "|%s", strings.Repeat("-", n+2))
		}
		_, _ = fmt.Fprintln(w, "|")
	}
}

// print prints the table of results. If benchDoc is set, it also writes the table to that file.
func (r *benchTable) print() {
	if len(r.rows) == 0 {
		return
	}
	fmt.Printf("\n%s\n\n", describeMachine())
	r.writeTable(os.Stdout)
	if *benchDoc == "" {
		return
	}
	var table strings.Builder
	r.writeTable(&table)
	before, _ := os.ReadFile(*benchDoc) // a missing file is empty
	if err := os.WriteFile(*benchDoc, []byte(replaceTable(string(before), table.String(), *benchCluster)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// replaceTable returns the page before with a new table. cluster selects the cluster table, which has its own heading
// at the end of the page.
func replaceTable(before, table string, cluster bool) string {
	first, last, found := strings.Cut(before, clusterHeading)
	if !cluster {
		text := fmt.Sprintf(benchHeader, describeMachine()) + table
		if found {
			text += "\n" + clusterHeading + last
		}
		return text
	}
	return strings.TrimRight(first, "\n") + "\n\n" + clusterHeading + fmt.Sprintf(clusterHeader, describeMachine()) + table
}

const benchHeader = `# Measurements

Written by ` + "`make bench`" + ` from one run; rows of failed measurements say so. The binary of ` + "`make build`" + ` runs as a separate process. Machine: %s, which also ran
other work. The last column has the average number of cores that the service, its peers and everything else used during
the measurement. The peers are SIPp or simulated phones, with the test that drives them. If the three numbers add up to
all cores, the service was limited by the remaining cores.

`

func describeMachine() string {
	cores := [...]string{"no core", "one core", "two shared cores", "three shared cores", "four shared cores"}
	n := runtime.NumCPU()
	name := fmt.Sprintf("%d shared cores", n)
	if n < len(cores) {
		name = cores[n]
	}
	return name + ", " + runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()
}
