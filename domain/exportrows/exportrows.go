// Package exportrows turns nouns into the rows of files: columns for spreadsheets,
// which never take a cell for a formula. It knows no file and no store.
package exportrows

import (
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Defuse is a text that no spreadsheet takes for a formula.
func Defuse(s string) string {
	t := strings.TrimLeft(s, " \u00a0\u3000\ufeff\u200b")
	if t == "" {
		return s
	}
	if strings.ContainsRune("=+-@\t\r\n|%\uff1d\uff0b\uff0d\uff20", []rune(t[:min(len(t), 4)])[0]) {
		return "'" + s
	}
	return s
}

// Time is a time as files show it; "": there is none.
func Time(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(domain.TimeFormat)
}

// Columns are those of a type of export, in order.
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

// Call is a row of calls. Numbers stay as they are: an E.164 number is no
// formula to a program, and people see it whole.
func Call(c *domain.Call) []string {
	notes, cost, currency := "", "", ""
	if c.Outcome != nil {
		notes = c.Outcome.Notes
	}
	if c.Cost != nil {
		cost, currency = c.Cost.Amount, c.Cost.Currency
	}
	return []string{
		c.ID, string(c.Direction), number(c.From), number(c.To), string(c.Status), Defuse(c.Disposition), Defuse(string(c.EndedReason)), c.EndedBy,
		c.AgentID, c.PathwayID, c.CampaignID, c.ContactID, strconv.Itoa(c.Attempt), Defuse(c.AnsweredBy),
		Time(c.StartedAt), Time(c.RingingAt), Time(c.AnsweredAt), Time(c.EndedAt), strconv.Itoa(c.DurationSeconds), Defuse(c.Intent), Defuse(notes),
		cost, currency, Time(&c.CreatedAt),
	}
}

// number leaves alone what is a telephone number in E.164, and nothing else.
func number(s string) string {
	if rest, ok := strings.CutPrefix(s, "+"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
		return s
	}
	return Defuse(s)
}

// Number is a telephone number as a cell.
func Number(s string) string { return number(s) }

// Leg is a row of legs; index counts from 1.
func Leg(c *domain.Call, index int) []string {
	l := &c.Legs[index-1]
	return []string{
		c.ID, strconv.Itoa(index), l.TrunkID, Defuse(l.Target), l.Role, Defuse(l.SIPCallID), strconv.Itoa(l.Code), Defuse(l.Reason), strconv.Itoa(l.Q850),
		strconv.FormatInt(l.PDDMs, 10), Defuse(l.Codec), Time(&l.StartedAt), Time(l.EndedAt),
	}
}

// Segment is a row of transcripts.
func Segment(callID string, s *domain.Segment) []string {
	return []string{
		callID, strconv.Itoa(s.Index), s.Speaker, Defuse(s.Text), strconv.FormatInt(s.StartMs, 10), strconv.FormatInt(s.EndMs, 10),
		strconv.FormatFloat(s.Confidence, 'f', -1, 64), strconv.FormatBool(s.Interrupted),
	}
}

// Audit is a row of the audit log.
func Audit(a *domain.AuditEntry) []string {
	return []string{
		a.ID, Time(&a.CreatedAt), a.Type, a.Action, a.Actor.Type, Defuse(a.Actor.ID), a.IP, Defuse(a.UserAgent), a.Resource.Type, Defuse(a.Resource.ID),
		a.Outcome, Defuse(a.Reason), strconv.Itoa(a.Count),
	}
}
