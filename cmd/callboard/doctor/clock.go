package doctor

import (
	"context"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const maxClockError = 30 * time.Second // signatures and tokens tolerate some minutes

// maxNodeClockDifference is the largest harmless difference between the clocks of two nodes. Calling hours, retries
// and calls per minute follow the clock of the node that owns the workspace. When a node with another clock takes
// the workspace over, they shift by the difference.
const maxNodeClockDifference = 2 * time.Second

// clockChecker compares the clocks of other machines with the clock of this machine.
type clockChecker struct {
	report    *report
	readClock func() time.Time // nil: the clock of this machine
}

// compare reports whether theirs, the clock of another machine, agrees with the clock of this machine. The other
// machine read its clock between before and after, with an error of at most unsure.
func (c *clockChecker) compare(check, owner string, theirs, before, after time.Time, unsure time.Duration) {
	off, unsure := clockOffset(theirs, before, after, unsure)
	const remedy = "synchronize both clocks with chrony or systemd-timesyncd"
	switch known := off.Abs() - unsure; {
	case known > maxClockError:
		c.report.bad(check, remedy, "the clock of %s differs by %s from this machine's: one node rejects tokens and signatures of the other as expired or not yet valid", owner, off.Round(time.Millisecond))
	case known > maxNodeClockDifference:
		c.report.warn(check, remedy, "the clock of %s differs by %s from this machine's: calling hours, retries and calls per minute shift when a workspace changes nodes", owner, off.Round(time.Millisecond))
	default:
		c.report.ok(check, "the clock of %s is within %s of this machine's", owner, maxNodeClockDifference)
	}
}

// clockOffset returns how far the other machine's clock is ahead. most is the largest error of this result: half the
// round-trip time plus unsure.
func clockOffset(theirs, before, after time.Time, unsure time.Duration) (ahead, most time.Duration) {
	trip := after.Sub(before)
	return theirs.Sub(before.Add(trip / 2)), trip/2 + unsure
}

// now returns the time of this machine's clock.
func (c *clockChecker) now() time.Time {
	if c.readClock != nil {
		return c.readClock()
	}
	return time.Now()
}

func (d *Diagnosis) checkClock(ctx context.Context) {
	var t unix.Timex
	if state, err := unix.Adjtimex(&t); err == nil {
		if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
			d.report.warn("clock_unsynchronised", "install chrony or systemd-timesyncd; calling hours, tokens and signatures depend on the clock", "the kernel reports that the clock is not synchronized")
		} else {
			d.report.ok("clock_unsynchronised", "the clock is synchronized")
		}
	}
	if d.ClockURL != "" {
		d.compareHTTPDate(ctx)
	}
	if d.Config == nil {
		return
	}
	newest := newestFile(d.Config.Data)
	if ahead := newest.Sub(d.Now); ahead > maxClockError {
		d.report.bad("clock_turned_back", "correct the clock before the service starts; until then due calls and retries wait", "files of the data folder are %s ahead of the clock: the clock was turned back", ahead.Round(time.Second))
	}
}

// compareHTTPDate compares this machine's clock with the Date header of the server at ClockURL.
func (d *Diagnosis) compareHTTPDate(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, d.ClockURL, http.NoBody)
	if err != nil {
		d.report.bad("clock", "--clock must be a URL", "%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.report.warn("clock", "use another server with --clock", "the server of --clock does not answer: %v", err)
		return
	}
	_ = resp.Body.Close()
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		d.report.warn("clock", "use another server with --clock", "%s sends no valid Date header", d.ClockURL)
		return
	}
	off := d.Now.Sub(theirs)
	if off.Abs() > maxClockError {
		d.report.bad("clock", "set the clock, and synchronize it with chrony or systemd-timesyncd", "the clock is off by %s according to %s", off.Round(time.Second), d.ClockURL)
		return
	}
	d.report.ok("clock", "the clock agrees with %s", d.ClockURL)
}

// newestFile returns the latest modification time of the files in the data folder.
func newestFile(data string) (newest time.Time) {
	for _, folder := range dataFolders(data) {
		files, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
	}
	return newest
}
