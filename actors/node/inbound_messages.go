package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/sip"
)

// SIP responses that only a MESSAGE gets. The responses to an INVITE are used for a MESSAGE too.
const (
	sipOK         = 200
	sipBadRequest = 400
	sipBadType    = 415
)

// inboundMessages answers the SIP MESSAGE requests of trunks.
type inboundMessages struct {
	workspaces   *workspaceTable
	trunkSources *trunk.Sources
	lookup       *inbound.Lookup
	routing      *routingLimit
	services     *Services
	accepts      func() bool  // reports whether messages may be received; must not block
	background   func(func()) // runs a goroutine that the stop of the node waits for
	log          *slog.Logger
}

// ReceiveMessage handles a SIP MESSAGE of a trunk in the background and returns at once. The response is sent after
// the message is stored, so that no message is lost.
func (r *inboundMessages) ReceiveMessage(in *sip.IncomingMessage) {
	if !r.accepts() || !r.routing.acquire() {
		in.Reply(sipUnavailable, overloadAfter)
		return
	}
	r.background(func() {
		defer r.routing.release()
		defer func() {
			if v := recover(); v != nil {
				in.Reply(sipServerError, 0)
				panic(v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		code, err := r.routeMessage(ctx, in)
		switch {
		case errors.Is(err, inbound.ErrAuthRequired):
			in.Challenge()
		case err != nil:
			r.log.Warn("an inbound text message could not be stored", slog.String("sip_call_id", in.CallID), slog.Any("error", err))
			in.Reply(sipUnavailable, overloadAfter)
		default:
			in.Reply(code, 0)
		}
	})
}

// routeMessage stores a message or a delivery report and returns the status code of the response.
func (r *inboundMessages) routeMessage(ctx context.Context, in *sip.IncomingMessage) (code int, err error) {
	content, err := sms.ReadContent(in.ContentType, in.Body)
	switch {
	case errors.Is(err, sms.ErrType):
		return sipBadType, nil
	case err != nil, content.Report == nil && !isStorableBody(content.Body):
		return sipBadRequest, nil //nolint:nilerr // the response states the error
	}
	as := &sip.Incoming{To: in.To, From: in.From, TrunkID: in.TrunkID, IsAuthenticated: in.IsAuthenticated, Source: in.Source, MatchFields: in.MatchFields}
	acceptsSMS := func(e trunk.Entry) bool { return e.Trunk.SMS == domain.SMSPlain || e.Trunk.SMS == domain.SMSIMDN }
	if content.Report != nil {
		return r.routeReport(ctx, as, content.Report)
	}
	number, entry, err := r.lookup.FindNumber(ctx, as)
	switch {
	case errors.Is(err, inbound.ErrNoNumber):
		return sipNotFound, nil
	case err != nil:
		return 0, err
	case !acceptsSMS(entry):
		return sipForbidden, nil
	}
	w := r.workspaces.Workspace(number.WorkspaceID)
	if w == nil {
		return sipNotFound, nil
	}
	country := inbound.NumberCountry(&entry.Trunk, w)
	m := &domain.Message{
		Meta: domain.Meta{WorkspaceID: number.WorkspaceID, Environment: number.Environment}, From: inbound.NormalizeCalledNumber(in.From, country), To: number.Number,
		Body: content.Body, RouteID: entry.Trunk.ID,
	}
	if number.Number == "*" {
		m.To = inbound.NormalizeCalledNumber(in.To, country)
	}
	return sipOK, r.services.Messages.ReceiveFromTrunk(ctx, m, entry.Trunk.ID, in.Key)
}

// isStorableBody reports whether the body of an inbound message can be stored: not empty, without NUL characters, and
// at most sms.MaxBody characters.
func isStorableBody(body string) bool {
	return body != "" && utf8.RuneCountInString(body) <= sms.MaxBody && !strings.ContainsRune(body, 0)
}

// routeReport stores a delivery report in the SMS message that it names. The message must have been sent over a
// trunk at the source address of the report. A report about an unknown message gets the response 200, because the
// sender would repeat it otherwise.
func (r *inboundMessages) routeReport(ctx context.Context, as *sip.Incoming, report *sms.Report) (code int, err error) {
	for _, e := range r.trunkSources.TrunksAt(as.Source) { // the trunk's matching header is optional, because a carrier may omit it in a report
		if as.IsAuthenticated && !inbound.IsAuthenticated(e, as) {
			continue
		}
		m, _, err := r.services.Messages.MessageByKey(ctx, domain.Key{Kind: "message", Workspace: e.WorkspaceID, ID: report.MessageID})
		if err != nil {
			return 0, err
		}
		if m == nil || m.RouteID != e.Trunk.ID {
			continue
		}
		if !inbound.IsAuthenticated(e, as) {
			return 0, inbound.ErrAuthRequired
		}
		return sipOK, r.services.Messages.ApplyReport(ctx, m.Key(), report)
	}
	return sipOK, nil
}

// claimMessage returns how well a message or a delivery report matches the trunks and messages of this node.
func (r *inboundMessages) claimMessage(ctx context.Context, in *sip.IncomingMessage) (none domain.CallClaim, err error) {
	content, err := sms.ReadContent(in.ContentType, in.Body)
	if err != nil {
		return none, err
	}
	if content.Report == nil {
		return r.lookup.RankClaim(ctx, &sip.Incoming{To: in.To, From: in.From, TrunkID: in.TrunkID, IsAuthenticated: in.IsAuthenticated, Source: in.Source, MatchFields: in.MatchFields})
	}
	for _, e := range r.trunkSources.TrunksAt(in.Source) {
		m, _, err := r.services.Messages.MessageByKey(ctx, domain.Key{Kind: "message", Workspace: e.WorkspaceID, ID: content.Report.MessageID})
		if err == nil && m != nil && m.RouteID == e.Trunk.ID {
			return domain.CallClaim{Rank: domain.ClaimNumber, Since: e.Trunk.CreatedAt, TrunkID: e.Trunk.ID}, nil
		}
	}
	return none, nil
}
