package main_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostileName is a name that contains script and HTML injection, which the dashboard must escape.
const hostileName = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'\"`

// signIn signs an admin in with a one-time link.
func (b *browser) signIn(s *service, operator bool) {
	b.t.Helper()
	user := s.api("POST", "/v1/users", object{"name": "Ada " + hostileName, "role": "admin", "operator": operator})["id"].(string)
	link := s.api("POST", "/v1/users/"+user+"/sign-in-link", nil)["url"].(string)
	b.openPage(link)
	b.clickAndWait("button")
	require.NotEqual(b.t, "/sign-in", b.evaluate(`location.pathname`), "the sign-in leads to the page that was asked for, or Home")
}

// checkAccessibility checks the page with axe-core in both themes, and that nothing overflows the width of a phone.
func (b *browser) checkAccessibility(axe, name string) {
	b.t.Helper()
	b.evaluate(axe)
	for _, theme := range []string{"light", "dark"} {
		b.mustCommand("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": theme}}})
		found := b.evaluate(`axe.run({resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" ")).join("\n"))`)
		assert.Empty(b.t, found, "%s, %s", name, theme)
		b.takeScreenshot(name + "-" + theme)
	}
	b.mustCommand("Emulation.setDeviceMetricsOverride", object{"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true})
	assert.Empty(b.t, b.evaluate(`document.documentElement.scrollWidth <= 390 ? "" : [...document.querySelectorAll("body *")]
		.filter(e => e.getBoundingClientRect().right > 390.5 && !e.parentElement.closest(".wide, pre, .graph, .plot")).map(e => e.outerHTML.slice(0, 200)).join("\n") || "scrollWidth " + document.documentElement.scrollWidth`), "%s, on a phone", name)
	if os.Getenv("SCREENSHOTS") != "" {
		for _, theme := range []string{"dark", "light"} {
			b.mustCommand("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": theme}}})
			b.takeScreenshot(name + "-phone-" + theme)
		}
	}
	b.setDesktopSize()
}

// setDesktopSize gives the page the size of a desktop window.
func (b *browser) setDesktopSize() {
	b.t.Helper()
	b.mustCommand("Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false})
}

// confirm clicks an element that asks a question in a dialog, confirms it and waits for the next page.
func (b *browser) confirm(selector string) {
	b.t.Helper()
	b.evaluate(`document.querySelector(` + strconv.Quote(selector) + `).click()`)
	require.Equal(b.t, true, b.evaluate(`new Promise((done) => { const look = () => document.querySelector("#dialog[open] button.main") ? done(true) : requestAnimationFrame(look); look() })`))
	b.clickAndWait("#dialog button.main")
}

// takeScreenshot saves a screenshot of the whole page if SCREENSHOTS is set.
func (b *browser) takeScreenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := base64.StdEncoding.DecodeString(b.mustCommand("Page.captureScreenshot", object{"captureBeyondViewport": true})["data"].(string))
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}

// The dashboard must work from the sign-in link to the recording of a call. Names with script injection must have no
// effect.
func TestCampaignIsCreatedAndMonitoredInBrowser(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("testdata/clients/node_modules/axe-core/axe.min.js")
	require.NoError(t, err)
	s := newRaceFreeService(t)
	s.api("PATCH", "/v1/workspace", object{"name": "Ours " + hostileName})
	operator := s.key
	s.key = s.testKey()
	agent := s.createAgent(object{
		"name": "Confirm " + hostileName, "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "values": []string{"1"}, "length": 1, "timeout_seconds": 10, "prompt": "Press one, {{name}}."},
			{"id": "yes", "type": "end", "prompt": "Thank you.", "outcome": "confirmed"},
			{"id": "no", "type": "end", "notes": hostileName},
		},
		"edges": []object{{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "1"}}, {"from": "ask", "to": "no", "when": object{"type": "else"}}},
	})
	hook := s.api("POST", "/v1/webhooks", object{"url": s.receiver.url + "/?" + url.QueryEscape(hostileName), "events": []string{"call.ended"}})["id"].(string)
	base := "http://" + s.http

	b := startBrowser(t, os.DevNull)
	b.setDesktopSize()
	b.mustCommand("Emulation.setScrollbarsHidden", object{"hidden": true})
	b.openPage(base + "/")
	assert.Contains(t, b.pageText(), "Sign in with a link")
	b.checkAccessibility(string(axe), "signedout")
	b.signIn(s, false)

	b.openPage(base + "/campaigns/new")
	b.evaluate(`for (const [name, value] of Object.entries({name: ` + quoteForScript("First "+hostileName) + `, agent_id: "` + agent + `", "caller_id.number": "+15005550100", "pacing.calls_per_minute": "x",
		"compliance.calling_hours.start": "00:00", "compliance.calling_hours.end": "24:00", "compliance.calling_hours.timezone": "UTC"})) document.querySelector("[name='" + name + "']").value = value`)
	b.clickAndWait("#form button.main")
	assert.Contains(t, b.pageText(), "Calls per minute must be a number.")
	assert.Equal(t, "First "+hostileName, b.evaluate(`document.querySelector("[name=name]").value`), "the form keeps its input")
	b.evaluate(`document.querySelector("[name='pacing.calls_per_minute']").value = "600"`)
	b.clickAndWait("#form button.main")
	require.Contains(t, b.pageText(), "Created.")
	campaign := b.evaluate(`location.pathname`).(string)

	file := filepath.Join(t.TempDir(), "people.csv")
	require.NoError(t, os.WriteFile(file, []byte("phone,name\n+15005550000,\"<img src=x onerror=window.hacked=1>\"\n+15005550001,Bob\n"), 0o600))
	document := b.mustCommand("DOM.getDocument", object{})["root"].(object)["nodeId"]
	input := b.mustCommand("DOM.querySelector", object{"nodeId": document, "selector": "input[type=file]"})["nodeId"]
	b.mustCommand("DOM.setFileInputFiles", object{"nodeId": input, "files": []string{file}})
	b.clickAndWait("#upload button")
	require.Contains(t, b.pageText(), "The contacts are uploaded.")
	b.openPage(base + campaign + "/rehearsal")
	assert.Contains(t, b.pageText(), "nobody is called")
	b.checkAccessibility(string(axe), "rehearsal")
	b.openPage(base + campaign)
	b.confirm("form[action$='/start'] button")
	require.Contains(t, b.pageText(), "The campaign is started.")
	b.evaluate(`window.stayed = true`)
	s.await("the end of the campaign on the page", time.Minute, func() bool {
		return strings.HasPrefix(b.evaluate(`document.querySelector("#state").innerText`).(string), "Completed")
	})
	s.await("the outcome in the contact list", time.Minute, func() bool {
		return strings.Contains(b.evaluate(`document.querySelector("#people").innerText`).(string), "Confirmed")
	})
	assert.Equal(t, true, b.evaluate(`window.stayed`), "the page was not reloaded")
	b.checkAccessibility(string(axe), "campaign")

	var call string
	s.await("a confirmed call with a recording", time.Minute, func() bool {
		l := s.api("GET", "/v1/calls?limit=10", nil)["data"].([]any)
		for _, c := range l {
			if c := c.(object); c["disposition"] == "confirmed" && c["recording_available"] == true && c["processing"] == false {
				call = c["id"].(string)
			}
		}
		return call != ""
	})
	b.openPage(base + "/calls/" + call)
	assert.Regexp(t, `(?s)Press one, <img src=x onerror=window.hacked=1>.*pressed 1.*call\.ended.*INVITE \+SDP`, b.pageText())
	assert.Greater(t, b.evaluate(`new Promise((done, failed) => { const a = document.querySelector("audio"); a.onloadedmetadata = () => done(a.duration); a.onerror = () => failed(a.error.message); a.load(); a.preload = "metadata" })`), 1.0)
	b.evaluate(`document.querySelector("audio").play()`)
	s.await("the waveform of the recording", time.Minute, func() bool { return b.evaluate(`document.querySelector("#waveform").hidden`) == false })
	b.checkAccessibility(string(axe), "call")

	var log []any
	s.await("the delivery in the webhook log", time.Minute, func() bool {
		log = s.api("GET", "/v1/webhooks/"+hook+"/logs", nil)["logs"].([]any)
		return len(log) == 2
	})
	b.openPage(base + "/webhooks/" + hook)
	before := len(s.receiver.deliveries())
	b.clickAndWait("table form[action$='/replay'] button")
	s.await("the repeated delivery", time.Minute, func() bool { return len(s.receiver.deliveries()) > before })

	pathway := s.api("GET", "/v1/agents/"+agent, nil)["pathway_id"].(string)
	b.editPathway(base+"/pathways/"+pathway, string(axe))
	assert.Contains(t, s.api("GET", "/v1/pathways/"+pathway, nil)["nodes"].([]any)[2].(object)["prompt"], "Good bye, <b>{{name}}</b>.")
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 28)
	appointment := b.bookAppointment(s, base, day)
	live := b.superviseCall(s, base, string(axe))
	s.api("POST", "/v1/sms", object{"to": "+15005550000", "from": "+15005550100", "body": "Hello " + hostileName})
	s.api("POST", "/v1/test/inbound-sms", object{"to": "+15005550100", "from": "+15005550000", "body": hostileName})
	b.openPage(base + "/keys/new")
	b.evaluate(`document.querySelector("#form [name=name]").value = ` + quoteForScript(hostileName) + `; document.querySelector("#form [value='calls:read']").checked = true`)
	b.clickAndWait("#form button.main")
	assert.Contains(t, b.pageText(), "svc_sk_test_")
	b.checkAccessibility(string(axe), "newkey")

	for name, path := range map[string]string{
		"home": "/", "campaigns": "/campaigns", "newcampaign": "/campaigns/new", "decisions": campaign + "/decisions", "calls": "/calls", "agents": "/agents",
		"agent": "/agents/" + agent, "pathway": "/pathways/" + pathway, "trypathway": "/pathways/" + pathway + "/try", "numbers": "/numbers", "newnumber": "/numbers/new", "live": "/live", "donotcall": "/do-not-call", "pathways": "/pathways", "newpathway": "/pathways/new", "newagent": "/agents/new", "editagent": "/agents/" + agent + "/edit",
		"editcampaign": campaign + "/edit", "knowledge": "/knowledge", "newknowledge": "/knowledge/new", "tools": "/tools", "newtool": "/tools/new", "providers": "/providers", "newprovider": "/providers/new", "trunks": "/trunks", "newtrunk": "/trunks/new",
		"phones": "/phones", "newphone": "/phones/new", "gateways": "/sms-gateways", "newgateway": "/sms-gateways/new", "events": "/events", "exports": "/exports", "newexport": "/exports/new", "team": "/team", "newuser": "/team/new",
		"oauthapps": "/oauth-apps", "newoauthapp": "/oauth-apps/new", "newwebhook": "/webhooks/new", "search": "/search?q=first", "notfound": "/nowhere",
		"appointments": "/appointments/list", "calendar": "/appointments?week=" + day.Format(time.DateOnly), "newappointment": "/appointments/new", "appointment": appointment, "settings": "/settings", "messages": "/messages", "thread": "/messages?with=%2B15005550000", "call-ended": "/calls/" + live, "webhooks": "/webhooks", "webhook": "/webhooks/" + hook, "usage": "/usage", "keys": "/keys", "newkeyform": "/keys/new", "audit": "/audit",
	} {
		b.openPage(base + path)
		assert.NotContains(t, b.pageText(), "could not be made", name)
		b.checkAccessibility(string(axe), name)
		assert.NotEqual(t, 1.0, b.evaluate(`window.hacked`), name)
		assert.Less(t, b.evaluate(`performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((n, e) => n + e.transferSize, 0)`), 150e3, name)
	}
	b.openPage(base + "/")
	assert.Equal(t, true, b.evaluate(`document.querySelectorAll("#chart figure canvas").length === 1`), "the chart shows the calls")
	assert.Equal(t, false, b.evaluate(`document.querySelector("#chart details").open`), "the table is collapsed")
	b.clickAndWait("form[action='/sign-out'] button")
	b.openPage(base + "/campaigns")
	assert.Contains(t, b.pageText(), "Sign in with a link")
	s.key = operator
	b.useOperatorPages(s, base, string(axe))
}

// useOperatorPages uses the operator's pages, and at last removes its own operator permission.
func (b *browser) useOperatorPages(s *service, base, axe string) {
	b.t.Helper()
	b.signIn(s, true)
	b.openPage(base + "/operator")
	b.evaluate(`for (const [name, value] of Object.entries({name: ` + quoteForScript("Rate "+hostileName) + `, percent: "30"})) document.querySelector("#newrule [name=" + name + "]").value = value`)
	b.clickAndWait("#newrule button.main")
	assert.Contains(b.t, b.pageText(), "The rule is saved.")
	b.evaluate(`document.querySelector("[name=reason]").value = ` + quoteForScript(hostileName))
	b.confirm("form[action$='/dialling-stop'] button")
	assert.Contains(b.t, b.pageText(), "All dialing is stopped")
	b.checkAccessibility(axe, "operator")
	assert.NotEqual(b.t, 1.0, b.evaluate(`window.hacked`))
	b.clickAndWait("form[action$='/dialling-resume'] button")
	assert.NotContains(b.t, b.pageText(), "All dialing is stopped")
	user := s.api("GET", "/v1/users?limit=1", nil)["data"].([]any)[0].(object)["id"].(string)
	b.evaluate(`window.left = true`)
	s.api("PATCH", "/v1/users/"+user, object{"operator": false})
	_, _ = b.command("Runtime.evaluate", object{"expression": `void htmx.ajax("GET", "/operator?part=live", "#live")`}) // the periodic refresh of the page, which may have run already
	b.awaitPage()
	assert.Contains(b.t, b.pageText(), "Page not found")
	b.openPage(base + "/settings")
	b.mustCommand("Network.clearBrowserCookies", object{})
	b.clickAndWait("main form button.main")
	assert.Contains(b.t, b.pageText(), "The form was not processed.")
	b.checkAccessibility(axe, "kept")
}

// superviseCall places a call, listens to it in the browser without speaking, and hangs it up. It returns the call's ID.
func (b *browser) superviseCall(s *service, base, axe string) (id string) {
	b.t.Helper()
	agent := s.createAgent(object{ // a long timeout keeps the call alive
		"name": "Wait", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "values": []string{"1"}, "length": 1, "timeout_seconds": 60, "prompt": "Press one."},
			{"id": "yes", "type": "end", "prompt": "Thank you.", "outcome": "confirmed"},
			{"id": "no", "type": "end"},
		},
		"edges": []object{{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "1"}}, {"from": "ask", "to": "no", "when": object{"type": "else"}}},
	})
	id = s.api("POST", "/v1/calls/outbound", object{"to": "+15005550009", "from": "+15005550100", "agent_id": agent})["id"].(string)
	s.await("the answer of the call", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["answered_at"] != nil })
	b.openPage(base + "/calls?status=active")
	assert.Contains(b.t, b.pageText(), "+15005550009")
	b.openPage(base + "/calls/" + id)
	b.checkAccessibility(axe, "call-live")
	b.clickAndWait("form[action$='/listen'] button")
	b.evaluate(`document.querySelector("#listen").click()`)
	s.await("audio in the browser", time.Minute, func() bool {
		return b.evaluate(`document.querySelector("#state").innerText`) == "You hear the call."
	})
	b.checkAccessibility(axe, "listen")
	b.openPage(base + "/calls/" + id)
	b.confirm("form[action$='/hangup'] button")
	s.await("the end of the call", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["ended_at"] != nil })
	return id
}

// editPathway enters a faulty prompt in the graph editor and checks that the page reports the error. It then
// corrects the prompt and saves the pathway.
func (b *browser) editPathway(at, axe string) {
	b.t.Helper()
	b.openPage(at + "/edit")
	edit := func(field, value string) {
		b.evaluate(`{const f = document.querySelector("` + field + `"); f.value = ` + quoteForScript(value) + `; f.dispatchEvent(new Event("input"))}`)
	}
	b.evaluate(`document.querySelector("g[data-node=no]").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}))`)
	edit("#node-prompt", "Good bye, <b>{{surname}}</b>.")
	b.clickAndWait("#save")
	assert.Contains(b.t, b.pageText(), "surname", "the page describes the error")
	assert.Equal(b.t, true, b.evaluate(`document.querySelectorAll("#graph g.bad").length === 1`), "the graph marks the node")
	b.checkAccessibility(axe, "editpathway")
	edit("#node-prompt", "Good bye, <b>{{name}}</b>.")
	b.clickAndWait("#save")
	require.Contains(b.t, b.pageText(), "The pathway is saved.")
	b.openPage(at + "/try")
	assert.Contains(b.t, b.pageText(), "Press one")
	b.evaluate(`document.querySelector("#say [name=text]").value = "1"`)
	b.clickAndWait("#say button")
	assert.Contains(b.t, b.pageText(), "has ended")
}

// bookAppointment books an appointment for a day, with a hostile name, and returns the path of its page.
func (b *browser) bookAppointment(s *service, base string, day time.Time) string {
	b.t.Helper()
	hours := object{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		hours[day] = []object{{"start": "00:00", "end": "24:00"}}
	}
	provider := s.api("POST", "/v1/providers", object{"name": "Dr. " + hostileName, "timezone": "UTC", "hours": hours})["id"].(string)
	b.openPage(base + "/appointments/new?from=" + day.Format(time.DateOnly) + "&provider=" + provider)
	b.evaluate(`document.querySelector("#book [name=name]").value = ` + quoteForScript("Ada "+hostileName) + `; document.querySelector("#book [name=phone]").value = "+15005550000"`)
	b.clickAndWait("#book button")
	require.Contains(b.t, b.pageText(), "The appointment is booked.")
	assert.Contains(b.t, b.pageText(), day.Format("Mon 2 Jan 2006, 15:04"))
	return b.evaluate(`location.pathname`).(string)
}

func quoteForScript(s string) string {
	return `atob("` + base64.StdEncoding.EncodeToString([]byte(s)) + `")`
}
