// Package exportrows converts records to rows of export files. It escapes text that a spreadsheet would execute as a
// formula.
package exportrows

import (
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// EscapeFormula escapes text that a spreadsheet would execute as a formula. Other text is returned unchanged.
func EscapeFormula(s string) string {
	t := strings.TrimLeft(s, " \u00a0\u3000\ufeff\u200b")
	if t == "" {
		return s
	}
	if strings.ContainsRune("=+-@\t\r\n|%\uff1d\uff0b\uff0d\uff20", []rune(t[:min(len(t), 4)])[0]) {
		return "'" + s
	}
	return s
}

// TimeCell formats a time for a cell. It returns "" for nil.
func TimeCell(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(domain.TimeFormat)
}

// Columns returns the column names of an export type, in the order of the cells.
func Columns(t domain.ExportType) []string {
	words := ""
	switch t {
	case domain.ExportCalls:
		words = "id direction from to status disposition ended_reason ended_by agent_id pathway_id campaign_id contact_id attempt answered_by " +
			"started_at ringing_at answered_at ended_at duration_seconds intent notes cost currency created_at"
	case domain.ExportLegs:
		words = "call_id leg trunk_id target role sip_call_id code reason q850 pdd_ms codec started_at ended_at"
	case domain.ExportTranscripts:
		words = "call_id index speaker text start_ms end_ms confidence interrupted"
	case domain.ExportResults:
		words = "phone name outcome duration confirmed notes completed_at reason"
	case domain.ExportContacts:
		words = "phone timezone country status outcome reason attempts last_call_id next_attempt_at completed_at contact_id context"
	case domain.ExportEvents:
		words = "id type created_at subject sequence svc_id data"
	case domain.ExportUsage:
		words = "day attempts included overage amount currency minutes outbound_seconds inbound_calls inbound_seconds sms"
	case domain.ExportAudit:
		words = "id created_at type action actor_type actor_id ip user_agent resource_type resource_id outcome reason count"
	}
	return strings.Fields(words)
}

// CallRow returns the cells of a call in the calls export. E.164 numbers are not escaped, because no spreadsheet
// treats them as formulas.
func CallRow(c *domain.Call) []string {
	notes, cost, currency := "", "", ""
	if c.Outcome != nil {
		notes = c.Outcome.Notes
	}
	if c.Cost != nil {
		cost, currency = c.Cost.Amount, c.Cost.Currency
	}
	return []string{
		c.ID, string(c.Direction), numberCell(c.From), numberCell(c.To), string(c.Status), EscapeFormula(c.Disposition), EscapeFormula(string(c.EndedReason)), c.EndedBy,
		c.AgentID, c.PathwayID, c.CampaignID, c.ContactID, strconv.Itoa(c.Attempt), EscapeFormula(c.AnsweredBy),
		TimeCell(c.StartedAt), TimeCell(c.RingingAt), TimeCell(c.AnsweredAt), TimeCell(c.EndedAt), strconv.Itoa(c.DurationSeconds), EscapeFormula(c.Intent), EscapeFormula(notes),
		cost, currency, TimeCell(&c.CreatedAt),
	}
}

// numberCell leaves E.164 numbers unchanged and escapes other text.
func numberCell(s string) string {
	if rest, ok := strings.CutPrefix(s, "+"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
		return s
	}
	return EscapeFormula(s)
}

// NumberCell returns E.164 numbers unchanged and escapes other text that a spreadsheet would execute as a formula.
func NumberCell(s string) string { return numberCell(s) }

// LegRow returns the cells of one leg of a call in the legs export. index is the number of the leg, from 1.
func LegRow(c *domain.Call, index int) []string {
	l := &c.Legs[index-1]
	return []string{
		c.ID, strconv.Itoa(index), l.TrunkID, EscapeFormula(l.Target), l.Role, EscapeFormula(l.SIPCallID), strconv.Itoa(l.Code), EscapeFormula(l.Reason), strconv.Itoa(l.Q850),
		strconv.FormatInt(l.PDDMs, 10), EscapeFormula(l.Codec), TimeCell(&l.StartedAt), TimeCell(l.EndedAt),
	}
}

// SegmentRow returns the cells of one transcript segment in the transcripts export.
func SegmentRow(callID string, s *domain.Segment) []string {
	return []string{
		callID, strconv.Itoa(s.Index), s.Speaker, EscapeFormula(s.Text), strconv.FormatInt(s.StartMs, 10), strconv.FormatInt(s.EndMs, 10),
		strconv.FormatFloat(s.Confidence, 'f', -1, 64), strconv.FormatBool(s.Interrupted),
	}
}

// AuditRow returns the cells of one audit entry in the audit_logs export.
func AuditRow(a *domain.AuditEntry) []string {
	return []string{
		a.ID, TimeCell(&a.CreatedAt), a.Type, a.Action, a.Actor.Type, EscapeFormula(a.Actor.ID), a.IP, EscapeFormula(a.UserAgent), a.Resource.Type, EscapeFormula(a.Resource.ID),
		a.Outcome, EscapeFormula(a.Reason), strconv.Itoa(a.Count),
	}
}
