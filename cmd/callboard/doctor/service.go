package doctor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/callboard/callboard/client"
)

// serviceChecker asks a running service for the state of its trunks and webhooks.
type serviceChecker struct {
	report  *report
	client  *client.Client // nil: there is no key
	running bool
}

// check looks at the readiness of the service, its trunks and its webhooks.
func (s *serviceChecker) check(ctx context.Context) {
	if s.client == nil {
		if s.running {
			s.report.warn("service", "--key, CALLBOARD_KEY or a profile lets trunks and endpoints be looked at", "the service runs, but there is no key to ask it with")
		}
		return
	}
	once := *s.client
	once.Retries = 0 // what is not ready is not ready in a second either
	if _, err := once.Readyz(ctx); err != nil {
		var refusal *client.Error
		if !errors.As(err, &refusal) {
			s.report.bad("service", "start it, or name it by --url", "nobody answers at %s: %v", s.client.URL, err)
			return
		}
		s.report.bad("ready", "docs/operations.md says what each reason wants", "the service cannot work: %s", reason(refusal))
	} else {
		s.report.ok("ready", "the service can place and take calls")
	}
	s.trunks(ctx)
	s.endpoints(ctx)
}

func reason(e *client.Error) string {
	if e.Code == "" && len(e.Body) > 0 {
		return string(e.Body)
	}
	return e.Message
}

func (s *serviceChecker) trunks(ctx context.Context) {
	n := 0
	for t, err := range s.client.AllTrunks(ctx, client.ListTrunksQuery{}) {
		if err != nil {
			s.refused("trunks", err)
			return
		}
		if t.Simulator {
			continue
		}
		n++
		if t.Register && t.Health != nil && t.Health.Registration != nil && t.Health.Registration.Status != "registered" {
			s.report.bad("trunk_registration", "check username, password and realm with the carrier", "trunk %s (%s) is not registered: %s", t.Name, t.ID, t.Health.LastError)
		}
		if t.Srtp == "off" && overTLS(&t) {
			s.report.warn("trunk_srtp", "set srtp to optional or required", "trunk %s (%s) signals over TLS, and its sound is in the clear", t.Name, t.ID)
		}
		one, cancel := context.WithTimeout(ctx, oneLimit)
		got, err := s.client.TestTrunk(one, t.ID)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			s.noOptions(&t, "it", "no answer in time")
			continue
		}
		if err != nil {
			s.refused("trunk", err)
			continue
		}
		for _, x := range got.Targets {
			if !x.Reachable {
				s.noOptions(&t, x.Target, x.Error)
				continue
			}
			s.report.ok("trunk", "trunk %s: %s answers %d in %d ms", t.Name, x.Target, x.Code, x.ResponseTimeMs)
		}
	}
	if n == 0 {
		s.report.warn("trunks", "callboard trunks create, or callboard init", "there is no trunk: only the built-in phones can be rung")
	}
}

// noOptions judges a trunk that answers no OPTIONS by its calls of the last hour: some
// carriers answer none.
func (s *serviceChecker) noOptions(t *client.Trunk, target, why string) {
	const remedy = "look at the host, the port and the firewall between"
	calls := client.TrunkQuality{}
	if t.Quality != nil {
		calls = *t.Quality
	}
	switch {
	case calls.Answered > 0 || calls.InboundCalls > 0:
		s.report.ok("trunk", "trunk %s: %s does not answer OPTIONS, as some carriers do not, but calls go over it: %d of %d were answered in the last hour, %d came in",
			t.Name, target, calls.Answered, calls.Attempts, calls.InboundCalls)
	case calls.Attempts > 0:
		s.report.bad("trunk", remedy, "trunk %s: %s does not answer OPTIONS (%s), and none of %d calls in the last hour was answered", t.Name, target, why, calls.Attempts)
	default:
		s.report.warn("trunk", remedy+"; some carriers answer no OPTIONS: place a call over it", "trunk %s: %s does not answer OPTIONS: %s", t.Name, target, why)
	}
}

func overTLS(t *client.Trunk) bool {
	for _, p := range t.Proxies {
		if p.Transport == "tls" {
			return true
		}
	}
	return false
}

func (s *serviceChecker) endpoints(ctx context.Context) {
	for h, err := range s.client.AllWebhooks(ctx, client.ListWebhooksQuery{}) {
		if err != nil {
			s.refused("endpoints", err)
			return
		}
		switch {
		case h.Status == "disabled":
			s.report.bad("endpoint_disabled", "mend the receiver, then callboard webhooks resume "+h.ID+"; callboard webhooks replay sends again what failed", "endpoint %s (%s) is disabled: %s", h.ID, h.URL, h.DisabledReason)
		case h.FailingSince != nil:
			s.report.warn("endpoint_failing", "callboard webhooks logs "+h.ID+" shows what it answers", "endpoint %s (%s) fails since %s", h.ID, h.URL, h.FailingSince.Format(time.RFC3339))
		default:
			s.report.ok("endpoint", "endpoint %s is %s", h.ID, h.Status)
		}
	}
}

// refused tells that the service did not answer a question.
func (s *serviceChecker) refused(check string, err error) {
	var refusal *client.Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden) {
		s.report.bad(check, "take a key that may read and test them", "the key may not: %v", err)
		return
	}
	s.report.bad(check, "ask again, or look into the log of the service", "%v", err)
}
