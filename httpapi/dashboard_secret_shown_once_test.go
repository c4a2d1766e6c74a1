package httpapi_test

import (
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

func TestDashboardCreatesWebhooksAndClientsWithSecretShownOnce(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, user := d.signedIn("admin")
	viewer, _ := d.signedIn("viewer")
	for path, form := range map[string]url.Values{
		"/webhooks":   {"url": {"https://example.com/hook"}, "events": {"call.*\r\ncampaign.completed"}},
		"/oauth-apps": {"name": {"CRM <b>"}, "scopes": {"calls:read"}, "redirect_uris": {"https://crm.example.com/cb\r\nhttps://crm.example.com/other"}},
	} {
		assert.Equal(t, 403, viewer.send("POST", path, form).Status, path)
		made := b.send("POST", path, form)
		require.Equal(t, 200, made.Status, "%s: %s", path, made.Body)
		secret := regexp.MustCompile(`<dt>(?:Client secret|Secret)</dt><dd><span class="copy"><code>([^<]{8,})</code>`).FindStringSubmatch(string(made.Body))
		require.NotNil(t, secret, "%s", made.Body)
		assert.NotContains(t, string(b.send("GET", "/"+regexp.MustCompile(`^/([\w-]+)`).FindStringSubmatch(path)[1], nil).Body), secret[1])
	}
	hook := d.must(200, "GET", "/v1/webhooks", "operator", nil).json(t)["data"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"https://example.com/hook", []any{"call.*", "campaign.completed"}}, []any{hook["url"], hook["events"]})
	client := d.must(200, "GET", "/v1/oauth/clients", "operator", nil).json(t)["data"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"CRM <b>", []any{"https://crm.example.com/cb", "https://crm.example.com/other"}}, []any{client["name"], client["redirect_uris"]})
	created := client["created_by"].(map[string]any)
	assert.Equal(t, []any{"user", user}, []any{created["type"], created["id"]})
	assert.NotEmpty(t, created["sign_in_key_id"], "the API key whose sign-in link opened the session")
	wrong := b.send("POST", "/webhooks", url.Values{"url": {"ftp://example.com"}, "events": {"*"}})
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), `value="ftp://example.com"`, "the form keeps the typed value")
}
