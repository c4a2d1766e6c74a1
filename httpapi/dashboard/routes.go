package dashboard

import "net/http"

// Routes returns the routes of all pages and form actions. Every change is a POST, whose origin the handler checks.
func Routes() []Route {
	get, post := http.MethodGet, http.MethodPost
	all := []Route{
		{Method: get, Path: "/", serve: homePage},
		{Method: get, Path: "/campaigns", serve: campaignsPage},
		{Method: get, Path: "/campaigns/new", Needs: "calls:write", serve: newCampaignPage},
		{Method: post, Path: "/campaigns", LongForm: true, Needs: "calls:write", serve: createCampaign},
		{Method: get, Path: "/campaigns/:id/edit", Needs: "calls:write", serve: editCampaignPage},
		{Method: post, Path: "/campaigns/:id/edit", LongForm: true, Needs: "calls:write", serve: updateCampaign},
		{Method: get, Path: "/campaigns/:id/results.csv", serve: exportResults},
		{Method: get, Path: "/campaigns/:id/contacts.csv", serve: exportContacts},
		{Method: get, Path: "/campaigns/:id/decisions.csv", serve: exportDecisions},
		{Method: get, Path: "/campaigns/:id", serve: campaignPage},
		{Method: post, Path: "/campaigns/:id/contacts", Upload: true, Needs: "calls:write", serve: uploadContacts},
		{Method: get, Path: "/campaigns/:id/decisions", serve: decisionsPage},
		{Method: get, Path: "/campaigns/:id/rehearsal", serve: forecastPage},
		{Method: post, Path: "/campaigns/:id/:verb", Needs: "calls:write", serve: changeCampaign},
		{Method: get, Path: "/calls", serve: callsPage},
		{Method: get, Path: "/calls/:id", serve: callPage},
		{Method: get, Path: "/calls/:id/recording", serve: redirectToRecording},
		{Method: post, Path: "/calls/:id/listen", Needs: "calls:write", serve: listenToCall},
		{Method: post, Path: "/calls/:id/hangup", Needs: "calls:write", serve: hangUpCall},
		{Method: get, Path: "/pathways/new", Needs: "agents:write", serve: newPathwayPage},
		{Method: post, Path: "/pathways", Needs: "agents:write", serve: createPathway},
		{Method: get, Path: "/pathways/:id", serve: pathwayPage},
		{Method: post, Path: "/pathways/:id", LongForm: true, Needs: "agents:write", serve: changePathway},
		{Method: get, Path: "/pathways/:id/edit", Needs: "agents:write", serve: editPathway},
		{Method: get, Path: "/pathways/:id/try", serve: chatPage},
		{Method: post, Path: "/pathways/:id/try", LongForm: true, ReadOnly: true, serve: chatPage},
		{Method: post, Path: "/pathways/:id/:verb", LongForm: true, Needs: "agents:write", serve: changePathway},
		{Method: get, Path: "/appointments", serve: calendarPage},
		{Method: post, Path: "/appointments", Needs: "agents:write", serve: bookAppointment},
		{Method: get, Path: "/appointments/list", serve: appointmentsPage},
		{Method: get, Path: "/appointments/new", Needs: "agents:write", serve: newAppointmentPage},
		{Method: get, Path: "/appointments/:id", serve: appointmentPage},
		{Method: post, Path: "/appointments/:id/:verb", Needs: "agents:write", serve: changeAppointment},
		{Method: get, Path: "/messages", serve: messagesPage},
		{Method: post, Path: "/messages", Needs: "calls:write", serve: sendMessage},
		{Method: get, Path: "/webhooks", serve: webhooksPage},
		{Method: post, Path: "/webhooks", NeedsRecentSignIn: true, Needs: "*:write", serve: createWebhook},
		{Method: get, Path: "/webhooks/new", Needs: "*:write", serve: newWebhookPage},
		{Method: get, Path: "/webhooks/:id", serve: webhookPage},
		{Method: get, Path: "/webhooks/:id/edit", Needs: "*:write", serve: editWebhookPage},
		{Method: post, Path: "/webhooks/:id/:verb", Needs: "*:write", serve: changeWebhook},
		{Method: get, Path: "/usage", serve: usagePage},
		{Method: get, Path: "/settings", serve: settingsPage},
		{Method: post, Path: "/settings", Needs: "*:write", serve: changeSettings},
		{Method: get, Path: "/keys", serve: keysPage},
		{Method: get, Path: "/keys/new", Needs: "*:write", serve: newKeyPage},
		{Method: post, Path: "/keys", NeedsRecentSignIn: true, Needs: "*:write", serve: createKey},
		{Method: post, Path: "/keys/:id/revoke", Needs: "*:write", serve: revokeKey},
		{Method: get, Path: "/exports/:id/file", serve: downloadExport},
		{Method: get, Path: "/pathways", serve: pathwaysPage},
		{Method: get, Path: "/live", serve: liveCallsPage},
		{Method: get, Path: "/events", serve: eventsPage},
		{Method: get, Path: "/search", serve: searchPage},
		{Method: get, Path: "/audit", serve: auditPage},
		{Method: get, Path: operatorPath, Operator: true, serve: operatorPage},
		{Method: post, Path: operatorPath + "/rules", Operator: true, Needs: "*:write", serve: createAlertRule},
		{Method: post, Path: operatorPath + "/rules/:id/:verb", Operator: true, Needs: "*:write", serve: changeAlertRule},
		{Method: post, Path: operatorPath + "/:verb", Operator: true, Needs: "*:write", serve: runOperatorAction},
	}
	for _, r := range resources() {
		all = append(all, r.routes()...)
	}
	return all
}

// ResourceLists returns the lists of the API whose resources have pages, by the paths of their pages.
func ResourceLists() map[string]string {
	all := map[string]string{}
	for _, r := range resources() {
		all[r.Path] = r.API
	}
	return all
}

// doneTexts returns the confirmations that a page shows after an action, by the value of its query parameter done.
func doneTexts() map[string]string {
	return map[string]string{
		"created": "Created.", "saved": "Saved.", "deleted": "Deleted.", "added": "Added.", "removed": "Removed.", "ended": "The session has ended.", "published": "Published.", "sent": "The message was sent.", "start": "The campaign is started.", "pause": "Paused.", "resume": "Resumed.",
		"cancel": "Cancelled.", "archive": "Archived.", "uploaded": "The contacts are uploaded.", "hangup": "The call is being ended.", "confirm": "The appointment is confirmed.",
		"pathway": "The pathway is saved. Running calls and campaigns keep the version with which they started.", "settings": "The settings are saved.", "booked": "The appointment is booked.", "reschedule": "The appointment is moved.",
		"test": "The test event was sent; see the log.", "replay": "Failed deliveries are being sent again.", "revoked": "The key is revoked: it is refused from now on.",
		"dialling-stop": "Dialing is stopped.", "dialling-resume": "Dialing is resumed.", "drain": "The node accepts no new calls.", "undrain": "The node accepts calls again.",
		"rule": "The rule is saved.", "rule-deleted": "The rule is deleted.", "rule-tested": "Test notifications were sent.",
	}
}
