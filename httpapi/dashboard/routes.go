package dashboard

import "net/http"

// Routes returns the routes of all pages and form actions. Every change is a POST, whose origin the handler checks.
func Routes() []Route {
	get, post := http.MethodGet, http.MethodPost
	return []Route{
		{Method: get, Path: "/", serve: overviewPage},
		{Method: get, Path: "/campaigns", serve: campaignsPage},
		{Method: get, Path: "/campaigns/new", serve: newCampaignPage},
		{Method: post, Path: "/campaigns", serve: createCampaign},
		{Method: get, Path: "/campaigns/:id", serve: campaignPage},
		{Method: post, Path: "/campaigns/:id/contacts", Upload: true, serve: uploadContacts},
		{Method: get, Path: "/campaigns/:id/decisions", serve: decisionsPage},
		{Method: get, Path: "/campaigns/:id/rehearsal", serve: forecastPage},
		{Method: post, Path: "/campaigns/:id/:verb", serve: changeCampaign},
		{Method: get, Path: "/calls", serve: callsPage},
		{Method: get, Path: "/calls/:id", serve: callPage},
		{Method: get, Path: "/calls/:id/recording", serve: redirectToRecording},
		{Method: post, Path: "/calls/:id/listen", serve: listenToCall},
		{Method: post, Path: "/calls/:id/hangup", serve: hangUpCall},
		{Method: get, Path: "/agents", serve: agentsPage},
		{Method: get, Path: "/agents/:id", serve: agentPage},
		{Method: get, Path: "/pathways/:id", serve: pathwayPage},
		{Method: post, Path: "/pathways/:id", LongForm: true, serve: changePathway},
		{Method: get, Path: "/pathways/:id/edit", serve: editPathway},
		{Method: get, Path: "/pathways/:id/try", serve: chatPage},
		{Method: post, Path: "/pathways/:id/try", LongForm: true, ReadOnly: true, serve: chatPage},
		{Method: post, Path: "/pathways/:id/:verb", LongForm: true, serve: changePathway},
		{Method: get, Path: "/numbers", serve: numbersPage},
		{Method: get, Path: "/appointments", serve: calendarPage},
		{Method: post, Path: "/appointments", serve: bookAppointment},
		{Method: get, Path: "/appointments/list", serve: appointmentsPage},
		{Method: get, Path: "/appointments/new", serve: newAppointmentPage},
		{Method: get, Path: "/appointments/:id", serve: appointmentPage},
		{Method: post, Path: "/appointments/:id/:verb", serve: changeAppointment},
		{Method: get, Path: "/messages", serve: messagesPage},
		{Method: get, Path: "/webhooks", serve: webhooksPage},
		{Method: post, Path: "/webhooks", NeedsRecentSignIn: true, serve: createWebhook},
		{Method: get, Path: "/webhooks/:id", serve: webhookPage},
		{Method: post, Path: "/webhooks/:id/:verb", serve: changeWebhook},
		{Method: get, Path: "/usage", serve: usagePage},
		{Method: get, Path: "/settings", serve: settingsPage},
		{Method: post, Path: "/settings", serve: changeSettings},
		{Method: get, Path: "/access", serve: accessPage},
		{Method: post, Path: "/access/keys", NeedsRecentSignIn: true, serve: createKey},
		{Method: post, Path: "/access/clients", NeedsRecentSignIn: true, serve: createClient},
		{Method: post, Path: "/access/keys/:id/revoke", serve: revokeKey},
		{Method: get, Path: "/audit", serve: auditPage},
		{Method: get, Path: operatorPath, Operator: true, serve: operatorPage},
		{Method: post, Path: operatorPath + "/rules", Operator: true, serve: createAlertRule},
		{Method: post, Path: operatorPath + "/rules/:id/:verb", Operator: true, serve: changeAlertRule},
		{Method: post, Path: operatorPath + "/:verb", Operator: true, serve: runOperatorAction},
	}
}

// doneTexts returns the confirmations that a page shows after an action, by the value of its query parameter done.
func doneTexts() map[string]string {
	return map[string]string{
		"created": "The campaign is created.", "start": "The campaign is started.", "pause": "Paused.", "resume": "Resumed.",
		"cancel": "Cancelled.", "uploaded": "The contacts are uploaded.", "hangup": "The call is being ended.", "confirm": "The appointment is confirmed.",
		"pathway": "The pathway is saved. Running calls and campaigns keep the version with which they started.", "settings": "The settings are saved.", "booked": "The appointment is booked.", "reschedule": "The appointment is moved.",
		"test": "The test event was sent; see the log.", "replay": "Failed deliveries are being sent again.", "revoked": "The key is revoked: it is refused from now on.",
		"dialling-stop": "Dialing is stopped.", "dialling-resume": "Dialing is resumed.", "drain": "The node accepts no new calls.", "undrain": "The node accepts calls again.",
		"rule": "The rule is saved.", "rule-deleted": "The rule is deleted.", "rule-tested": "Test notifications were sent.",
	}
}
