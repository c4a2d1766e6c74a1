package dashboard

import "net/http"

// Routes are all pages and buttons. Whatever changes something is a POST, so
// the browser's origin is checked before.
func Routes() []Route {
	get, post := http.MethodGet, http.MethodPost
	return []Route{
		{Method: get, Path: "/", serve: (*Dashboard).overview},
		{Method: get, Path: "/campaigns", serve: (*Dashboard).campaigns},
		{Method: get, Path: "/campaigns/new", serve: (*Dashboard).newCampaign},
		{Method: post, Path: "/campaigns", serve: (*Dashboard).createCampaign},
		{Method: get, Path: "/campaigns/:id", serve: (*Dashboard).campaign},
		{Method: post, Path: "/campaigns/:id/contacts", Upload: true, serve: (*Dashboard).uploadContacts},
		{Method: get, Path: "/campaigns/:id/decisions", serve: (*Dashboard).decisions},
		{Method: get, Path: "/campaigns/:id/rehearsal", serve: (*Dashboard).forecast},
		{Method: post, Path: "/campaigns/:id/:verb", serve: (*Dashboard).changeCampaign},
		{Method: get, Path: "/calls", serve: (*Dashboard).calls},
		{Method: get, Path: "/calls/:id", serve: (*Dashboard).call},
		{Method: get, Path: "/calls/:id/recording", serve: (*Dashboard).recording},
		{Method: post, Path: "/calls/:id/listen", serve: (*Dashboard).listen},
		{Method: post, Path: "/calls/:id/hangup", serve: (*Dashboard).hangUp},
		{Method: get, Path: "/agents", serve: (*Dashboard).agents},
		{Method: get, Path: "/agents/:id", serve: (*Dashboard).agent},
		{Method: get, Path: "/pathways/:id", serve: (*Dashboard).pathway},
		{Method: post, Path: "/pathways/:id", Long: true, serve: (*Dashboard).changePathway},
		{Method: get, Path: "/pathways/:id/edit", serve: (*Dashboard).editPathway},
		{Method: get, Path: "/pathways/:id/try", serve: (*Dashboard).chat},
		{Method: post, Path: "/pathways/:id/try", Long: true, Reads: true, serve: (*Dashboard).chat},
		{Method: post, Path: "/pathways/:id/:verb", Long: true, serve: (*Dashboard).changePathway},
		{Method: get, Path: "/numbers", serve: (*Dashboard).numbers},
		{Method: get, Path: "/appointments", serve: (*Dashboard).calendar},
		{Method: post, Path: "/appointments", serve: (*Dashboard).book},
		{Method: get, Path: "/appointments/list", serve: (*Dashboard).appointments},
		{Method: get, Path: "/appointments/new", serve: (*Dashboard).newAppointment},
		{Method: get, Path: "/appointments/:id", serve: (*Dashboard).appointment},
		{Method: post, Path: "/appointments/:id/:verb", serve: (*Dashboard).changeAppointment},
		{Method: get, Path: "/messages", serve: (*Dashboard).messages},
		{Method: get, Path: "/webhooks", serve: (*Dashboard).webhooks},
		{Method: post, Path: "/webhooks", Again: true, serve: (*Dashboard).createWebhook},
		{Method: get, Path: "/webhooks/:id", serve: (*Dashboard).webhook},
		{Method: post, Path: "/webhooks/:id/:verb", serve: (*Dashboard).changeWebhook},
		{Method: get, Path: "/usage", serve: (*Dashboard).usage},
		{Method: get, Path: "/settings", serve: (*Dashboard).settings},
		{Method: post, Path: "/settings", serve: (*Dashboard).changeSettings},
		{Method: get, Path: "/access", serve: (*Dashboard).access},
		{Method: post, Path: "/access/keys", Again: true, serve: (*Dashboard).createKey},
		{Method: post, Path: "/access/clients", Again: true, serve: (*Dashboard).createClient},
		{Method: post, Path: "/access/keys/:id/revoke", serve: (*Dashboard).revokeKey},
		{Method: get, Path: "/audit", serve: (*Dashboard).audit},
		{Method: get, Path: operatorPath, Operator: true, serve: (*Dashboard).operator},
		{Method: post, Path: operatorPath + "/rules", Operator: true, serve: (*Dashboard).createRule},
		{Method: post, Path: operatorPath + "/rules/:id/:verb", Operator: true, serve: (*Dashboard).changeRule},
		{Method: post, Path: operatorPath + "/:verb", Operator: true, serve: (*Dashboard).runOperatorAction},
	}
}

// doneTexts are what pages say after a button has done its work.
func doneTexts() map[string]string {
	return map[string]string{
		"created": "The campaign is created.", "start": "The campaign is started.", "pause": "It is paused.", "resume": "It goes on.",
		"cancel": "It is cancelled.", "uploaded": "The contacts are uploaded.", "hangup": "The call is being ended.", "confirm": "The appointment is confirmed.",
		"pathway": "The pathway is saved. Calls and campaigns that are running keep the one they began with.", "settings": "The settings are saved.", "booked": "The appointment is booked.", "reschedule": "The appointment is moved.",
		"test": "A test was sent; see the log.", "replay": "Failed deliveries are being sent again.", "revoked": "The key is revoked: it is refused from now on.",
		"dialling-stop": "Nobody is rung any more.", "dialling-resume": "People are rung again.", "drain": "No call begins on this node any more.", "undrain": "The node takes calls again.",
		"rule": "The rule is kept.", "rule-deleted": "The rule is deleted.", "rule-tested": "A test was sent by all ways of the rule.",
	}
}
