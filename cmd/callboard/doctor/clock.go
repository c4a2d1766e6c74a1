package doctor

import (
	"context"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const clockSlack = 30 * time.Second // signatures and tokens allow some minutes

// clockApart is how far two clocks of an install may be from each other: what
// is due (calling hours, retries, calls per minute) goes by that of the node
// that has the workspace, and moves by the difference when another one has it.
const clockApart = 2 * time.Second

// clockChecker compares the clocks of other machines with the clock of this one.
type clockChecker struct {
	report *report
	wall   func() time.Time // nil: the clock of this machine
}

// compare compares another clock, read at some time between two of ours and true
// to unsure, with this machine's.
func (c *clockChecker) compare(check, owner string, theirs, before, after time.Time, unsure time.Duration) {
	off, unsure := offset(theirs, before, after, unsure)
	const remedy = "let chrony or systemd-timesyncd keep both clocks"
	switch known := off.Abs() - unsure; {
	case known > clockSlack:
		c.report.bad(check, remedy, "the clock of %s is %s from this machine's: tokens and signatures that one node makes are old or early on the other", owner, off.Round(time.Millisecond))
	case known > clockApart:
		c.report.warn(check, remedy, "the clock of %s is %s from this machine's: calling hours, retries and calls per minute move by that when a workspace changes nodes", owner, off.Round(time.Millisecond))
	default:
		c.report.ok(check, "the clock of %s is within %s of this machine's", owner, clockApart)
	}
}

// offset is how far another clock is ahead, and what of that may be the way.
func offset(theirs, before, after time.Time, unsure time.Duration) (ahead, most time.Duration) {
	trip := after.Sub(before)
	return theirs.Sub(before.Add(trip / 2)), trip/2 + unsure
}

// time is what the clock of this machine says.
func (c *clockChecker) time() time.Time {
	if c.wall != nil {
		return c.wall()
	}
	return time.Now()
}

func (d *Diagnosis) clock(ctx context.Context) {
	var t unix.Timex
	if state, err := unix.Adjtimex(&t); err == nil {
		if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
			d.report.warn("clock_unsynchronised", "install chrony or systemd-timesyncd; calling hours, tokens and signatures go by the clock", "the kernel says that nothing keeps the clock right")
		} else {
			d.report.ok("clock_unsynchronised", "the kernel's clock is kept right")
		}
	}
	if d.Clock != "" {
		d.compareHTTPDate(ctx)
	}
	if d.Config == nil {
		return
	}
	newest := newestFile(d.Config.Data)
	if ahead := newest.Sub(d.Now); ahead > clockSlack {
		d.report.bad("clock_back", "set the clock right before the service starts: what is due would wait", "files of the data folder are %s ahead of the clock: it was turned back", ahead.Round(time.Second))
	}
}

// compareHTTPDate compares the clock with the Date header of another machine.
func (d *Diagnosis) compareHTTPDate(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, d.Clock, http.NoBody)
	if err != nil {
		d.report.bad("clock", "--clock must be a URL", "%v", err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.report.warn("clock", "name another server by --clock", "nobody tells the time: %v", err)
		return
	}
	_ = resp.Body.Close()
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		d.report.warn("clock", "name another server by --clock", "%s does not tell the time", d.Clock)
		return
	}
	off := d.Now.Sub(theirs)
	if off.Abs() > clockSlack {
		d.report.bad("clock", "set the clock, and let chrony or systemd-timesyncd keep it", "the clock is off by %s, says %s", off.Round(time.Second), d.Clock)
		return
	}
	d.report.ok("clock", "the clock is that of %s", d.Clock)
}

// newestFile is when something in the data folder was last written.
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
