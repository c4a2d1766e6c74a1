package dialer

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Intervals of the event campaign.progress.
const (
	progressInterval = time.Minute
	progressStep     = 5 // percentage points between two reports
)

// CheckProgressReport returns whether campaign.progress is due: after each 5 %, and each minute if something has
// changed. nextCheck is when it will be due without further changes; zero: never.
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
