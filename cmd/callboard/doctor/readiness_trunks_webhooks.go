package doctor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/callboard/callboard/client"
)

// serviceChecker checks the readiness, the trunks and the webhooks of a running service.
type serviceChecker struct {
	report  *report
	client  *client.Client // nil: there is no key
	running bool
}

// check checks the readiness of the service, its trunks and its webhooks.
func (s *serviceChecker) check(ctx context.Context) {
	if s.client == nil {
		if s.running {
			s.report.warn("service", "set --key, CALLBOARD_KEY or a profile to check trunks and endpoints", "the service runs, but there is no API key to query it")
		}
		return
	}
	once := *s.client
	once.Retries = 0 // a retry would only delay the report
	if _, err := once.Readyz(ctx); err != nil {
		var refusal *client.Error
		if !errors.As(err, &refusal) {
			s.report.bad("service", "start the service, or set --url", "no service answers at %s: %v", s.client.URL, err)
			return
		}
		s.report.bad("ready", "see the reason in docs/operations.md", "the service is not ready: %s", refusalReason(refusal))
	} else {
		s.report.ok("ready", "the service can place and accept calls")
	}
	s.checkTrunks(ctx)
	s.checkEndpoints(ctx)
}

func refusalReason(e *client.Error) string {
	if e.Code == "" && len(e.Body) > 0 {
		return string(e.Body)
	}
	return e.Message
}

func (s *serviceChecker) checkTrunks(ctx context.Context) {
	n := 0
	for t, err := range s.client.AllTrunks(ctx, client.ListTrunksQuery{}) {
		if err != nil {
			s.reportRequestError("trunks", err)
			return
		}
		if t.Simulator {
			continue
		}
		n++
		if t.Register && t.Health != nil && t.Health.Registration != nil && t.Health.Registration.Status != "registered" {
			s.report.bad("trunk_registration", "check user name, password and realm with the carrier", "trunk %s (%s) is not registered: %s", t.Name, t.ID, t.Health.LastError)
		}
		if t.Srtp == "off" && usesTLS(&t) {
			s.report.warn("trunk_srtp", "set srtp to optional or required", "trunk %s (%s) uses TLS for signaling, but its media is unencrypted", t.Name, t.ID)
		}
		one, cancel := context.WithTimeout(ctx, peerTimeout)
		got, err := s.client.TestTrunk(one, t.ID)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			s.reportMissingOptionsReply(&t, "the carrier", "timeout")
			continue
		}
		if err != nil {
			s.reportRequestError("trunk", err)
			continue
		}
		for _, x := range got.Targets {
			if !x.Reachable {
				s.reportMissingOptionsReply(&t, x.Target, x.Error)
				continue
			}
			s.report.ok("trunk", "trunk %s: %s answered %d in %d ms", t.Name, x.Target, x.Code, x.ResponseTimeMs)
		}
	}
	if n == 0 {
		s.report.warn("trunks", "run callboard trunks create or callboard init", "there is no trunk: Callboard can call only the test carrier")
	}
}

// reportMissingOptionsReply reports a trunk whose carrier did not answer OPTIONS. Some carriers never answer, so the
// severity depends on whether the trunk's calls of the last hour succeeded.
func (s *serviceChecker) reportMissingOptionsReply(t *client.Trunk, target, why string) {
	const remedy = "check the host, the port and the firewall"
	calls := client.TrunkQuality{}
	if t.Quality != nil {
		calls = *t.Quality
	}
	switch {
	case calls.Answered > 0 || calls.InboundCalls > 0:
		s.report.ok("trunk", "trunk %s: %s does not answer OPTIONS, but carries calls: %d of %d were answered in the last hour, %d were inbound",
			t.Name, target, calls.Answered, calls.Attempts, calls.InboundCalls)
	case calls.Attempts > 0:
		s.report.bad("trunk", remedy, "trunk %s: %s does not answer OPTIONS (%s), and none of %d calls in the last hour was answered", t.Name, target, why, calls.Attempts)
	default:
		s.report.warn("trunk", remedy+"; some carriers answer no OPTIONS: place a test call", "trunk %s: %s does not answer OPTIONS: %s", t.Name, target, why)
	}
}

func usesTLS(t *client.Trunk) bool {
	for _, p := range t.Proxies {
		if p.Transport == "tls" {
			return true
		}
	}
	return false
}

func (s *serviceChecker) checkEndpoints(ctx context.Context) {
	for h, err := range s.client.AllWebhooks(ctx, client.ListWebhooksQuery{}) {
		if err != nil {
			s.reportRequestError("endpoints", err)
			return
		}
		switch {
		case h.Status == "disabled":
			s.report.bad("endpoint_disabled", "repair the receiver, then run callboard webhooks resume "+h.ID+"; callboard webhooks replay repeats failed deliveries", "endpoint %s (%s) is disabled: %s", h.ID, h.URL, h.DisabledReason)
		case h.FailingSince != nil:
			s.report.warn("endpoint_failing", "see the responses with callboard webhooks logs "+h.ID, "endpoint %s (%s) has been failing since %s", h.ID, h.URL, h.FailingSince.Format(time.RFC3339))
		default:
			s.report.ok("endpoint", "endpoint %s is %s", h.ID, h.Status)
		}
	}
}

// reportRequestError reports that an API request of the doctor failed.
func (s *serviceChecker) reportRequestError(check string, err error) {
	var refusal *client.Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden) {
		s.report.bad(check, "use a key with permission to read and test them", "the key lacks permission: %v", err)
		return
	}
	s.report.bad(check, "try again, or check the log of the service", "%v", err)
}
