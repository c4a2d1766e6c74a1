package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Intervals between two campaign.progress events, in time and in progress.
const (
	progressInterval = time.Minute
	progressStep     = 5 // percentage points between two reports
)

// CheckProgressReport returns whether a campaign.progress event is due. An event is due after every 5 % of progress,
// and every minute if the progress has changed. nextCheck is when an event becomes due without further changes, or
// zero for never.
func CheckProgressReport(p *domain.Progress, changed bool, now time.Time) (due bool, nextCheck time.Time) {
	if int(p.Percent())/progressStep > p.ReportedPercent/progressStep {
		return true, time.Time{}
	}
	if !changed {
		return false, time.Time{}
	}
	at := p.ReportedAt.Add(progressInterval)
	return !now.Before(at), at
}
