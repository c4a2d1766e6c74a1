package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

var noon = time.Date(2030, 1, 15, 12, 0, 0, 123_000_000, time.UTC)

func TestStateAfterDeliveryAttempt(t *testing.T) {
	t.Parallel()
	delivered := webhook.DeliveryVerdict{State: domain.DeliveryDelivered}
	failed := webhook.DeliveryVerdict{State: domain.DeliveryFailed}
	retry := func(d time.Duration) webhook.DeliveryVerdict {
		return webhook.DeliveryVerdict{State: domain.DeliveryRetrying, DueAt: noon.Add(d)}
	}
	for _, c := range []struct {
		attempt, status int
		want            webhook.DeliveryVerdict
	}{
		{1, 200, delivered},
		{1, 204, delivered},
		{5, 299, delivered},
		{1, 300, failed},
		{1, 301, failed},
		{1, 307, failed},
		{1, 400, failed},
		{1, 404, failed},
		{1, 410, failed},
		{1, 429, failed},
		{1, 499, failed},
		{1, 500, retry(30 * time.Second)},
		{2, 503, retry(2 * time.Minute)},
		{3, 599, retry(10 * time.Minute)},
		{4, 500, retry(time.Hour)},
		{5, 500, failed},
		{1, 0, retry(30 * time.Second)},
		{4, 0, retry(time.Hour)},
		{5, 0, failed},
		{6, 0, failed},
		{1, 101, retry(30 * time.Second)},
		{1, 600, retry(30 * time.Second)},
	} {
		assert.Equal(t, c.want, webhook.EvaluateAttempt(c.attempt, c.status, noon, 1), "attempt %d, status %d", c.attempt, c.status)
	}
}

func TestSignatureUsesSecretAsGiven(t *testing.T) {
	t.Parallel()
	// The key, data and HMAC are those of RFC 4231, test case 2.
	assert.Equal(t, "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		webhook.Sign("Jefe", []byte("what do ya want for nothing?")))
	assert.NotEqual(t, webhook.Sign("whsec_abc", nil), webhook.Sign("abc", nil))
}

func TestStandardWebhooksSignatureIsAddedIfSecretAllows(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdefghijklmnop")
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	got, ok := webhook.StandardKey(secret)
	require.True(t, ok)
	assert.Equal(t, key, got)
	got, ok = webhook.StandardKey(strings.TrimRight(secret, "="))
	require.True(t, ok)
	assert.Equal(t, key, got)
	for name, secret := range map[string]string{
		"no prefix":       base64.StdEncoding.EncodeToString(key),
		"no base64":       "whsec_bar_secret_0123456789abcdef",
		"23 bytes":        "whsec_" + base64.StdEncoding.EncodeToString(key[:23]),
		"65 bytes":        "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65)),
		"empty":           "",
		"the prefix only": "whsec_",
	} {
		_, ok := webhook.StandardKey(secret)
		assert.False(t, ok, name)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "evt_1.%d.%s", noon.Unix(), "{}")
	assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), webhook.StandardSign(key, "evt_1", noon, []byte("{}")))
}

func TestGeneratedSecretWorksForBothSignatures(t *testing.T) {
	t.Parallel()
	secret := webhook.NewSecret([32]byte{1, 2, 3})
	key, ok := webhook.StandardKey(secret)
	require.True(t, ok)
	assert.Len(t, key, 32)
	var p domain.Problems
	webhook.CheckSecret("secret", secret, &p)
	require.NoError(t, p.Err())
	assert.Equal(t, "…"+secret[len(secret)-4:], webhook.SecretHint(secret))
	assert.Equal(t, "…", webhook.SecretHint("short"))
}

func TestAttemptHeaders(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"evt_1"}`)
	mac := hmac.New(sha256.New, []byte("plain secret"))
	mac.Write(body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	first := webhook.SignedRequest{EventID: "evt_1", Number: 1, First: noon, At: noon, Secret: "plain secret"}
	assert.Equal(t, []webhook.Header{
		{Name: "Content-Type", Value: "application/json"},
		{Name: "User-Agent", Value: "Callboard-Webhook/1"},
		{Name: "X-Svc-Signature", Value: signature},
		{Name: "X-Svc-Delivery-Attempt", Value: "1"},
	}, first.SignedHeaders(body))
	traced := first
	traced.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	assert.Equal(t, []webhook.Header{{Name: "Traceparent", Value: traced.TraceParent}}, traced.SignedHeaders(body)[4:])
	third := first
	third.Number, third.At, third.Secret = 3, noon.Add(time.Hour), webhook.NewSecret([32]byte{})
	key, _ := webhook.StandardKey(third.Secret)
	assert.Equal(t, []webhook.Header{
		{Name: "X-Svc-Delivery-Attempt", Value: "3"},
		{Name: "X-Svc-First-Attempt", Value: "2030-01-15T12:00:00.123Z"},
		{Name: "Webhook-Id", Value: "evt_1"},
		{Name: "Webhook-Timestamp", Value: "1894712400"},
		{Name: "Webhook-Signature", Value: webhook.StandardSign(key, "evt_1", third.At, body)},
	}, third.SignedHeaders(body)[3:])
}

func TestSecretRotationSignsWithBothSecrets(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"evt_1"}`)
	old, young := webhook.NewSecret([32]byte{1}), webhook.NewSecret([32]byte{2})
	signed := func(a webhook.SignedRequest) map[string]string {
		a.EventID, a.Number, a.At = "evt_1", 1, noon
		got := make(map[string]string)
		for _, h := range a.SignedHeaders(body) {
			got[h.Name] = h.Value
		}
		return got
	}
	standard := func(secret string) string {
		key, ok := webhook.StandardKey(secret)
		require.True(t, ok)
		return webhook.StandardSign(key, "evt_1", noon, body)
	}
	both := signed(webhook.SignedRequest{Secret: old, Next: young})
	assert.Equal(t, []string{webhook.Sign(old, body), webhook.Sign(young, body), standard(old) + " " + standard(young)},
		[]string{both["X-Svc-Signature"], both["X-Svc-Signature-Next"], both["Webhook-Signature"]})
	one := signed(webhook.SignedRequest{Secret: "plain secret", Next: young})
	assert.Equal(t, []string{standard(young), "evt_1"}, []string{one["Webhook-Signature"], one["Webhook-Id"]}, "only the new one is of that kind")
	assert.NotContains(t, signed(webhook.SignedRequest{Secret: old}), "X-Svc-Signature-Next")
}

func TestPreparedSecretsSignTheSame(t *testing.T) {
	t.Parallel()
	kept := new(webhook.SecretSigners)
	var work sync.WaitGroup
	for i := range 64 {
		work.Go(func() {
			body := []byte(strings.Repeat("x", i*37))
			a := webhook.SignedRequest{EventID: "evt_1", Number: 1, At: noon, Secret: webhook.NewSecret([32]byte{byte(i / 16)}), Next: []string{"", "plain"}[i%2]}
			want := a.SignedHeaders(body)
			a.Signers = kept
			assert.Equal(t, want, a.SignedHeaders(body))
		})
	}
	work.Wait()
}

func TestNewSecretReplacesOldAtItsTime(t *testing.T) {
	t.Parallel()
	secrets := func(w domain.Webhook, at time.Time) []string {
		now, next := w.Secrets(at)
		return []string{now, next}
	}
	takes := noon.Add(24 * time.Hour)
	w := domain.Webhook{Secret: "a", SecretHint: "…a"}
	w.RotateSecret("b", "…b", takes)
	assert.Equal(t, []string{"a", "b"}, secrets(w, takes.Add(-1)))
	assert.Equal(t, []string{"b", ""}, secrets(w, takes))
	w.CompleteRotation(takes.Add(-1))
	assert.Equal(t, []string{"a", "…a", "b", "…b"}, []string{w.Secret, w.SecretHint, w.NextSecret, w.NextSecretHint})
	third := w
	third.RotateSecret("c", "…c", takes.Add(time.Hour))
	assert.Equal(t, []string{"a", "c"}, secrets(third, takes), "the first goes on signing")
	third.RotateSecret("d", "…d", time.Time{})
	assert.Equal(t, domain.Webhook{Secret: "d", SecretHint: "…d"}, third)
	w.CompleteRotation(takes)
	assert.Equal(t, domain.Webhook{Secret: "b", SecretHint: "…b"}, w)
}

func TestEndpointIsDisabledOnGoneOrAfterThreeDaysOfFailures(t *testing.T) {
	t.Parallel()
	assert.Equal(t, webhook.ReasonGone, webhook.DisableReason(410, 1, 0))
	assert.Empty(t, webhook.DisableReason(404, 9, 100*time.Hour))
	assert.Empty(t, webhook.DisableReason(503, 1000, 72*time.Hour-1))
	assert.Equal(t, webhook.ReasonFailing, webhook.DisableReason(503, 10, 72*time.Hour))
	assert.Equal(t, webhook.ReasonFailing, webhook.DisableReason(0, 10, 72*time.Hour))
}

func TestRetryTimeIsLimitedByItsDelay(t *testing.T) {
	t.Parallel()
	for attempts, delay := range map[int]time.Duration{1: 30 * time.Second, 2: 2 * time.Minute, 3: 10 * time.Minute, 4: time.Hour} {
		assert.Equal(t, noon.Add(delay-time.Second), webhook.RetryTime(attempts, noon.Add(delay-time.Second), noon, 1), attempts)
		assert.Equal(t, noon.Add(-time.Hour), webhook.RetryTime(attempts, noon.Add(-time.Hour), noon, 1), attempts)
		assert.Equal(t, noon.Add(delay), webhook.RetryTime(attempts, noon.Add(delay+time.Hour), noon, 1), attempts)
		assert.Equal(t, noon.Add(delay/60), webhook.RetryTime(attempts, noon.Add(delay+time.Hour), noon, 60), attempts)
	}
}

func TestEnvelopeUsesSubscribedEventName(t *testing.T) {
	t.Parallel()
	e := event.Event{
		ID: "evt_1", Type: event.CallStarted, CreatedAt: noon.In(time.FixedZone("", 3600)), WorkspaceID: "ws_1", SvcID: "unit_1",
		Subject: "call_1", Sequence: 4, Data: json.RawMessage(`{"call_id":"call_1"}`), Environment: domain.Live, Offset: 77,
	}
	for as, want := range map[string]string{"": "call.started", "call.initiated": "call.initiated"} {
		body, err := webhook.Body(e, as)
		require.NoError(t, err)
		assert.Equal(t, `{"id":"evt_1","type":"`+want+`","created_at":"2030-01-15T12:00:00.123Z","workspace_id":"ws_1","svc_id":"unit_1",`+
			`"subject":"call_1","sequence":4,"data":{"call_id":"call_1"}}`, string(body))
	}
	e.Data = nil
	body, err := webhook.Body(e, "")
	require.NoError(t, err)
	assert.Contains(t, string(body), `"data":{}`)
}

func TestEverySampleIsAnObjectMarkedAsTest(t *testing.T) {
	t.Parallel()
	w := &domain.Webhook{Meta: domain.Meta{ID: "wh_1", WorkspaceID: "ws_1"}, URL: "https://example.com/"}
	for _, typ := range event.Types() {
		e := webhook.SampleEvent(typ, w, "evt_1", noon)
		var data map[string]any
		require.NoError(t, json.Unmarshal(e.Data, &data), typ)
		assert.Equal(t, typ, e.Type)
		assert.NotEmpty(t, e.Subject, typ)
		if typ == event.WebhookTest {
			assert.Equal(t, map[string]any{"webhook_id": "wh_1", "message": "This is a test event."}, data)
			continue
		}
		assert.Equal(t, true, data["test"], typ)
		assert.Greater(t, len(data), 1, typ)
	}
}

func TestSecretLengthAndCharacters(t *testing.T) {
	t.Parallel()
	for secret, ok := range map[string]bool{
		"whsec_bar_secret_0123456789abcdef": true, "12345678": true, "1234567": false, "": false,
		strings.Repeat("x", 256): true, strings.Repeat("x", 257): false, "1234567\n": false, "1234567\xff": false, "schlüssel": true,
	} {
		var p domain.Problems
		webhook.CheckSecret("secret", secret, &p)
		assert.Equal(t, ok, p.Err() == nil, "%q", secret)
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	loop := []access.EgressRule{{Network: netip.MustParsePrefix("127.0.0.0/8")}, {Network: netip.MustParsePrefix("10.0.0.5/32"), Port: 8443}}
	strict, ports, lab := access.Egress{}, access.Egress{Ports: []int{8443}}, access.Egress{Allow: loop}
	for text, c := range map[string]struct {
		egress access.Egress
		ok     bool
	}{
		"https://example.com":                               {strict, true},
		"https://example.com/hook?x=1":                      {strict, true},
		"https://EXAMPLE.com:443/hook":                      {strict, true},
		"https://example.com./":                             {strict, true},
		"https://xn--bcher-kva.example/":                    {strict, true},
		"https://8.8.8.8/":                                  {strict, true},
		"https://[2606:4700:4700::1111]/":                   {strict, true},
		"https://example.com:8443/":                         {ports, true},
		"https://127.0.0.1:9443/":                           {lab, true},
		"https://10.0.0.5:8443/":                            {lab, true},
		"https://example.com:9443/":                         {lab, true}, // the address is checked at connection time
		"https://a_b.example.com/":                          {strict, true},
		"":                                                  {strict, false},
		"example.com":                                       {strict, false},
		"//example.com":                                     {strict, false},
		"http://example.com":                                {strict, false},
		"HTTPS://example.com":                               {strict, true},
		"ftp://example.com":                                 {strict, false},
		"file:///etc/passwd":                                {strict, false},
		"gopher://example.com:443/":                         {strict, false},
		"https:example.com":                                 {strict, false},
		"https://":                                          {strict, false},
		"https:///path":                                     {strict, false},
		"https://:443/":                                     {strict, false},
		"https://user@example.com/":                         {strict, false},
		"https://user:secret@example.com/":                  {strict, false},
		"https://@example.com/":                             {strict, false},
		"https://8.8.8.8@127.0.0.1/":                        {strict, false},
		"https://example.com/#x":                            {strict, false},
		"https://example.com/#":                             {strict, false},
		"https://example.com/ x":                            {strict, false},
		"https://example.com/\r\nX: y":                      {strict, false},
		"https://exa mple.com/":                             {strict, false},
		"https://example.com\\@127.0.0.1/":                  {strict, false},
		"https://example.com:80/":                           {strict, false},
		"https://example.com:22/":                           {ports, false},
		"https://example.com:0/":                            {strict, false},
		"https://example.com:65536/":                        {strict, false},
		"https://example.com:/":                             {strict, false},
		"https://example.com:http/":                         {strict, false},
		"https://127.0.0.1/":                                {strict, false},
		"https://127.1/":                                    {strict, false},
		"https://2130706433/":                               {strict, false},
		"https://0x7f000001/":                               {strict, false},
		"https://0x7f.0.0.1/":                               {strict, false},
		"https://0177.0.0.1/":                               {strict, false},
		"https://127.0.0.1./":                               {strict, false},
		"https://1.2.3.0x4/":                                {strict, false},
		"https://[::1]/":                                    {strict, false},
		"https://[::ffff:127.0.0.1]/":                       {strict, false},
		"https://[::ffff:7f00:1]/":                          {strict, false},
		"https://[64:ff9b::7f00:1]/":                        {strict, false},
		"https://[fe80::1%25eth0]/":                         {strict, false},
		"https://169.254.169.254/latest/meta-data":          {strict, false},
		"https://10.0.0.5:9443/":                            {lab, false},
		"https://10.0.0.6:8443/":                            {lab, false},
		"https://bücher.example/":                           {strict, false},
		"https://１２７.０.０.１/":                                {strict, false},
		"https://a..b/":                                     {strict, false},
		"https://-a.example/":                               {strict, false},
		"https://" + strings.Repeat("a", 64) + ".example/":  {strict, false},
		"https://" + strings.Repeat("a.", 127) + "example/": {strict, false},
		"https://example.com/" + strings.Repeat("a", 2048):  {strict, false},
	} {
		_, err := webhook.ParseURL(text, c.egress)
		assert.Equal(t, c.ok, err == nil, "%s: %v", text, err)
		if err != nil {
			var e *domain.Error
			require.ErrorAs(t, err, &e, text)
			assert.Equal(t, domain.CodeInvalidURL, e.Code, text)
			assert.Equal(t, "url", e.Param)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://example.com/", "https://[::1]:443/", "https://a@b/", "https://127.1/", "https://example.com:443/#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := webhook.ParseURL(text, access.Egress{})
		if err != nil {
			assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err))
			return
		}
		assert.NotZero(t, target.Port)
		assert.NotEmpty(t, target.Host)
		if target.Addr.IsValid() {
			assert.True(t, access.PublicAddress(target.Addr), text)
		}
	})
}
