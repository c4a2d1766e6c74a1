package rules

import (
	"maps"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/sms"
)

// Bound limits a member of a request body. A zero field sets no limit.
type Bound struct {
	Length   int      // letters of a text, or of each text of a list or map
	Items    int      // entries of a list or map
	Each     int      // entries of each list of a map
	Min, Max *float64 // of a number
}

// Bounds of the caller and the words of a test call.
const (
	MaxTestName = 80
	MaxTestSays = 500
)

// Bounds for members that no rule limits more closely.
const (
	maxID       = 64  // an identifier: prefix, underscore and ULID
	maxNumber   = 64  // a telephone number as people write it
	maxWord     = 64  // one word of a list
	maxTag      = 35  // a language tag (RFC 5646 §4.4.1)
	maxCountry  = 2   // ISO 3166-1 alpha-2
	maxClock    = 5   // HH:MM
	maxDate     = 10  // YYYY-MM-DD
	maxAmount   = 32  // a decimal number
	maxHost     = 253 // a host name (RFC 1035 §2.3.4)
	maxMail     = 254 // a mail address (RFC 5321 §4.5.3.1.3)
	maxZone     = 64  // a zone of the time-zone database
	maxRoles    = 20  // permissions or grant types of a credential
	maxVersions = 1e9 // the number of a version

	maxCallerName       = 80
	maxDialled          = 21 // a plus sign and 20 digits
	callerIDHeaderKinds = 3
	maxACDSeconds       = 3600
	maxShortSeconds     = 60
	maxTrunkCalls       = 100_000
	maxExpectations     = 20
	maxSentences        = 100
	maxSpans            = 10 // opening hours of a day
	maxCallMinutes      = 24 * 60
	minRate, maxRate    = 0.5, 2
)

func text(letters int) Bound           { return Bound{Length: letters} }
func list(entries, letters int) Bound  { return Bound{Items: entries, Length: letters} }
func number(least, most float64) Bound { return Bound{Min: &least, Max: &most} }

// Bounds are the limits of the members of request bodies: by the name of the
// schema and the member, or * and a member that has the same limit everywhere.
func Bounds() map[string]Bound {
	all := commonBounds()
	for _, some := range []map[string]Bound{agentBounds(), pathwayBounds(), campaignBounds(), trunkBounds(), accountBounds()} {
		maps.Copy(all, some)
	}
	return all
}

func commonBounds() map[string]Bound {
	all := map[string]Bound{
		"*.name": text(MaxName), "*.metadata": list(MaxMetadata, MaxMetadataValue), "*.context": list(MaxContext, 0),
		"*.language": text(maxTag), "*.timezone": text(maxZone), "*.start": text(maxWord), "*.end": text(maxWord),
		"*.country": text(maxCountry), "*.default_country": text(maxCountry), "*.number_country": text(maxCountry),
		"NewHours.start": text(maxClock), "NewHours.end": text(maxClock), "NewSpan.start": text(maxClock), "NewSpan.end": text(maxClock),
		"NewReminderHours.start": text(maxClock), "NewReminderHours.end": text(maxClock),
		"*.url": text(maxURL), "*.secret": text(maxSecret), "*.extension": text(maxWord), "*.username": text(maxCredential),
		"*.body": text(sms.MaxBody), "*.media": list(sms.MaxMedia, maxURL), "*.notes": text(MaxNotes), "*.reason": text(MaxReason),
		"*.allowed_ips": list(allow.MaxAllowedIPs, maxWord), "*.permissions": list(maxRoles, maxWord), "*.excluded_dates": list(maxExcludedDates, maxDate),
		"*.prefixes": list(maxPrefixes, maxWord), "*.headers": list(maxHeaders, maxHeaderValue), "*.version": number(1, maxVersions),
	}
	for _, id := range []string{
		"agent_id", "pathway_id", "trunk_id", "campaign_id", "call_id", "list_id", "tool_id", "dnc_list_id", "message_id", "watches_workspace_id",
	} {
		all["*."+id] = text(maxID)
	}
	for _, number := range []string{"to", "from", "number", "phone"} {
		all["*."+number] = text(maxNumber)
	}
	return all
}

func agentBounds() map[string]Bound {
	return map[string]Bound{
		"*.first_message": text(maxFirstMessage), "*.system_prompt": text(maxSystemPrompt), "*.engine": text(maxEngineName),
		"*.languages": list(maxLanguages, 0), "*.tools": list(maxAgentTools, maxID), "*.knowledge_base_ids": list(maxAgentBases, maxID),
		"*.pronunciations": list(maxPronunciations, 0), "*.word": text(MaxName), "*.say": text(MaxName), "*.rate": number(minRate, maxRate),
		"NewSTT.keywords": list(maxEngineWords, maxEngineName), "NewAgentTransfer.destinations": list(maxDestinations, 0),
		"NewAnalysis.fields": list(maxFields, 0), "NewAnalysisField.values": list(maxFieldValues, MaxName),
		"NewReminder.body": text(sms.MaxBody), "*.reminders": list(maxReminders, 0), "*.hours": {Items: len(Weekdays()), Each: maxSpans},
		"*.type": text(maxType), "CancelAppointmentRequest.reason": text(MaxReason),
		"*.sources": list(knowledge.MaxSources, 0), "NewSource.content": text(knowledge.MaxPaper * 4 / 3), "NewSource.text": text(knowledge.MaxBytes),
		"KnowledgeQuery.query": text(knowledge.MaxQuery), "*.description": text(maxDescription),
		"TestInbound.from": text(maxNumber), "TestInbound.says": text(MaxTestSays), "TestInbound.name": text(MaxTestName), "TestInbound.digits": text(maxWord),
		"SMSGatewayEvent.id": text(MaxName), "SMSGatewayEvent.error_code": text(maxWord), "SMSGatewayEvent.error_message": text(MaxReason),
		"TicketRequest.path": text(MaxReason),
	}
}

func pathwayBounds() map[string]Bound {
	words := list(maxExpectations, pathway.MaxNotes) // each of them stands in what is said
	values := list(pathway.MaxVariables, pathway.MaxNotes)
	return map[string]Bound{
		"*.nodes": list(pathway.MaxNodes, 0), "*.edges": list(pathway.MaxEdges, 0), "*.variables": values,
		"Edge.from": text(maxID), "Edge.to": text(maxID),
		"When.digits": text(pathway.MaxDigits), "When.intent": text(MaxName), "When.expr": text(pathway.MaxNotes), "When.prompt": text(pathway.MaxNotes),
		"When.words": list(pathway.MaxWords, MaxName),
		"Node.id":    text(maxID), "Node.prompt": text(pathway.MaxPrompt), "Node.retry_prompt": text(pathway.MaxPrompt), "Node.save_as": text(maxID),
		"Node.digits": text(pathway.MaxPrompt), "Node.notes": text(pathway.MaxNotes), "Node.summary": text(pathway.MaxSummary), "Node.destination": text(MaxName),
		"Node.input": text(maxWord), "Node.action": text(maxWord), "Node.values": list(pathway.MaxNodes, MaxName),
		"Node.extract": list(pathway.MaxArguments, 0), "Node.arguments": list(pathway.MaxArguments, pathway.MaxNotes),
		"Node.length": number(0, pathway.MaxDigits), "Node.retries": number(0, pathway.MaxRetries), "Node.max_turns": number(0, pathway.MaxModelTurns),
		"Node.timeout_seconds": number(0, pathway.MaxTimeoutSeconds),
		"AnalysisField.name":   text(maxID), "AnalysisField.type": text(maxWord), "AnalysisField.values": list(pathway.MaxNodes, MaxName),
		"Variable.name": text(maxID), "Variable.default": text(pathway.MaxNotes),
		"Assign.intent": text(MaxName), "Assign.notes": text(pathway.MaxNotes),
		"ChatModelCall.tool": text(maxID), "ChatModelAnswer.sentences": list(maxSentences, pathway.MaxSpoken),
		"ScenarioResult.intent": text(MaxName), "ScenarioResult.outcome": text(maxWord),
		"ScenarioResult.says": words, "ScenarioResult.says_not": words, "ScenarioResult.actions": words,
		"ScenarioExpect.says": words, "ScenarioExpect.says_not": words, "ScenarioExpect.actions": words,
	}
}

func campaignBounds() map[string]Bound {
	webhooks := list(maxEvents, maxURL)
	return map[string]Bound{
		"*.contacts": list(MaxInlineContacts, 0), "ContactsUpload.contacts": {}, // as many as the body holds
		"*.webhooks": webhooks, "*.days": list(len(Weekdays()), maxWord),
		"*.retry_on": list(len(retryOn), maxWord), "*.max_attempts": number(1, maxAttempts), "*.interval_hours": number(0, maxIntervalHours),
		"*.calls_per_minute": number(1, maxLimit), "*.max_concurrent": number(1, maxLimit), "*.mode": text(maxWord),
		"NewCallerID.name": text(maxCallerName), "NewOptOut.keywords": list(maxKeywords, MaxMetadataKey), "NewOptOut.action": text(maxWord),
		"TransferRequest.destination": text(MaxName),
		"NewExportFilters.status":     text(maxWord), "NewExportFilters.types": list(maxEvents, maxWord),
		"DNCNumbers.entries": {Length: maxNumber},
	}
}

func trunkBounds() map[string]Bound {
	return map[string]Bound{
		"*.proxies": list(maxProxies, 0), "*.host": text(maxHost), "*.from_domain": text(maxHost), "*.password": text(maxCredential), "*.realm": text(maxCredential),
		"NewPhone.password": text(maxPhonePassword),
		"*.caller_ids":      list(maxCallerIDs, maxNumber), "*.caller_id_headers": list(callerIDHeaderKinds, maxWord), "*.codecs": list(maxCodecs, maxWord),
		"*.media_networks": list(maxNetworks, maxWord), "*.redirect_hosts": list(maxNetworks, maxHost), "NewTrunkInbound.allowed_ips": list(maxNetworks, maxWord),
		"*.number_strip": text(maxDialled), "*.number_add": text(maxDialled), "*.costs": list(maxPrefixes, 0), "*.prefix": text(maxPrefixLength + 1), "*.cost": text(maxAmount),
		"*.calls_per_second": number(0, maxCallsPerSecond), "*.max_channels": number(0, maxChannels),
		"*.min_asr": number(0, 1), "*.max_short_call_share": number(0, 1), "*.min_acd_seconds": number(0, maxACDSeconds),
		"*.short_call_seconds": number(0, maxShortSeconds), "NewTrunkAlarms.min_calls": number(0, maxTrunkCalls),
	}
}

func accountBounds() map[string]Bound {
	return map[string]Bound{
		"*.environment": text(maxWord), "*.plan": text(maxWord), "*.amount": text(maxAmount),
		"*.grant_types": list(maxRoles, maxWord), "*.scopes": list(maxRoles, maxWord), "*.redirect_uris": list(maxRedirects, maxRedirect),
		"*.events": list(maxEvents, maxWord), "*.event_type": text(maxWord), "ReplayRequest.event_ids": {Length: maxID}, "ReplayRequest.types": {Length: maxWord},
		"EventFilters.agent_ids": list(maxFilter, maxID), "EventFilters.campaign_ids": list(maxFilter, maxID),
		"EventFilters.directions": list(len(domain.Direction("").Values()), maxWord), "EventFilters.numbers": list(maxFilter, maxNumber),
		"*.allowed_origins": list(maxOrigins, maxOriginLength), "*.blocked_prefixes": list(maxPrefixes, maxPrefixLength), "*.countries": list(maxCountries, maxCountry),
		"*.max_call_minutes": number(0, maxCallMinutes), "*.patterns": {Length: domain.MaxPatternBytes},
		"*.requests_per_minute": number(1, maxLimit), "*.concurrent_inbound": number(0, maxLimit), "*.concurrent_outbound": number(0, maxLimit),
		"*.emails": list(MaxEmails, maxMail), "*.minutes": number(0, maxAlertMinutes), "*.min_calls": number(0, maxAlertCalls),
	}
}
