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

// What is answered to a MESSAGE besides what calls are answered.
const (
	sipOK         = 200
	sipBadRequest = 400
	sipBadType    = 415
)

// Message takes a MESSAGE of a trunk. It is answered when the message is safe, so
// that nothing is lost in between. It returns at once.
func (n *Node) Message(in *sip.IncomingMessage) {
	if n.drain.isStopping() || !n.loaded.Load() {
		in.Reply(sipUnavailable, overloadAfter)
		return
	}
	if n.routing.Add(1) > maxRouting {
		n.routing.Add(-1)
		in.Reply(sipUnavailable, overloadAfter)
		return
	}
	n.RunInBackground(func() {
		defer n.routing.Add(-1)
		defer func() {
			if v := recover(); v != nil {
				in.Reply(sipServerError, 0)
				panic(v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		code, err := n.routeMessage(ctx, in)
		switch {
		case errors.Is(err, inbound.ErrAuthRequired):
			in.Challenge()
		case err != nil:
			n.cfg.Log.Warn("a text message could not be taken", slog.String("sip_call_id", in.CallID), slog.Any("error", err))
			in.Reply(sipUnavailable, overloadAfter)
		default:
			in.Reply(code, 0)
		}
	})
}

// routeMessage keeps a message or a report, and says what is answered.
func (n *Node) routeMessage(ctx context.Context, in *sip.IncomingMessage) (code int, err error) {
	content, err := sms.ReadContent(in.ContentType, in.Body)
	switch {
	case errors.Is(err, sms.ErrType):
		return sipBadType, nil
	case err != nil, content.Report == nil && !bodyFits(content.Body):
		return sipBadRequest, nil //nolint:nilerr // told by the answer
	}
	as := &sip.Incoming{To: in.To, From: in.From, TrunkID: in.TrunkID, Proved: in.Proved, Source: in.Source, MatchFields: in.MatchFields}
	carries := func(e trunk.Entry) bool { return e.Trunk.SMS == domain.SMSPlain || e.Trunk.SMS == domain.SMSIMDN }
	if content.Report != nil {
		return n.routeReport(ctx, as, content.Report)
	}
	number, entry, err := n.lookup.Number(ctx, as)
	switch {
	case errors.Is(err, inbound.ErrNoNumber):
		return sipNotFound, nil
	case err != nil:
		return 0, err
	case !carries(entry):
		return sipForbidden, nil
	}
	w := n.Workspace(number.WorkspaceID)
	if w == nil {
		return sipNotFound, nil
	}
	country := inbound.Country(&entry.Trunk, w)
	m := &domain.Message{
		Meta: domain.Meta{WorkspaceID: number.WorkspaceID, Environment: number.Environment}, From: inbound.CalledNumber(in.From, country), To: number.Number,
		Body: content.Body, RouteID: entry.Trunk.ID,
	}
	if number.Number == "*" {
		m.To = inbound.CalledNumber(in.To, country)
	}
	return sipOK, n.services.Messages.ReceiveFromTrunk(ctx, m, entry.Trunk.ID, in.Key)
}

// bodyFits says whether a text that came in may be kept: one with letters, and
// not longer than ten messages of the longest that we send.
func bodyFits(body string) bool {
	return body != "" && utf8.RuneCountInString(body) <= sms.MaxBody && !strings.ContainsRune(body, 0)
}

// routeReport puts a delivery report into the message it names: one that went
// over a trunk at its source. A report of nothing of ours is taken, too: it
// would only come again.
func (n *Node) routeReport(ctx context.Context, as *sip.Incoming, r *sms.Report) (code int, err error) {
	for _, e := range n.trunkSources.Of(as.Source) { // with or without the header of its trunk: a carrier need not repeat it in a report
		if as.Proved && !inbound.IsAuthenticated(e, as) {
			continue
		}
		m, _, err := n.services.Messages.MessageByKey(ctx, domain.Key{Kind: "message", Workspace: e.WorkspaceID, ID: r.MessageID})
		if err != nil {
			return 0, err
		}
		if m == nil || m.RouteID != e.Trunk.ID {
			continue
		}
		if !inbound.IsAuthenticated(e, as) {
			return 0, inbound.ErrAuthRequired
		}
		return sipOK, n.services.Messages.ApplyReport(ctx, m.Key(), r)
	}
	return sipOK, nil
}
