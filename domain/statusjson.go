package domain

import (
	"maps"
	"slices"
)

// Written is a copy that is written once for all who are shown it. It must not
// be changed.
func (s *CampaignStatusObject) Written() *CampaignStatusObject {
	c := *s
	c.written = nil
	if text, err := c.AppendAnswer(nil); err == nil {
		c.written = text
	}
	return &c
}

// AppendAnswer writes the status as an answer: what encoding/json makes of it,
// and {} for no outcomes.
func (s CampaignStatusObject) AppendAnswer(b []byte) ([]byte, error) {
	if s.written != nil {
		return append(b, s.written...), nil
	}
	b = slices.Grow(b, 768)
	o := AppendObject(b)
	o.Text("campaign_id", s.CampaignID)
	o.Text("status", string(s.Status))
	o.Word("pause_reason", s.PauseReason)
	o.Word("completion_reason", s.CompletionReason)
	o.Inner("progress", func(in *JSONObject) {
		in.Int("total", int64(s.Progress.Total))
		in.Int("attempted", int64(s.Progress.Attempted))
		in.Int("remaining", int64(s.Progress.Remaining))
		in.Int("in_progress", int64(s.Progress.InProgress))
	})
	o.Inner("outcomes", func(in *JSONObject) {
		var few [16]Outcome // more than there are: nothing is set aside
		words := slices.AppendSeq(few[:0], maps.Keys(s.Outcomes))
		slices.Sort(words)
		for _, word := range words {
			in.Int(string(word), int64(s.Outcomes[word]))
		}
	})
	o.Inner("skipped", func(in *JSONObject) {
		in.Int("dnc", int64(s.Skipped.DNC))
		in.Int("hours", int64(s.Skipped.Hours))
		in.Int("frequency", int64(s.Skipped.Frequency))
		in.Int("invalid", int64(s.Skipped.Invalid))
	})
	o.Int("expired", int64(s.Expired))
	o.Inner("timing", func(in *JSONObject) {
		in.Moment("started_at", s.Timing.StartedAt)
		in.Moment("estimated_completion", s.Timing.EstimatedCompletion)
	})
	if s.Waiting == nil {
		o.Null("waiting")
	} else {
		o.Inner("waiting", func(in *JSONObject) {
			in.Text("reason", s.Waiting.Reason)
			in.Moment("until", s.Waiting.Until)
		})
	}
	return o.End()
}
