package router

import (
	"maps"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/token"
)

// MaxUserID is the maximum length in characters of the user id in a token.
const MaxUserID = 256

// memberLimit limits one member of a request body. A zero field sets no limit.
type memberLimit struct {
	Length   int      // characters of a string, or of each string of a list or map
	Items    int      // entries of a list or map
	Each     int      // entries of each list of a map
	Min, Max *float64 // limits of a number
}

// Limits of body members that have no tighter validation rule.
const (
	maxID       = 64  // an identifier: prefix, underscore and ULID
	maxNumber   = 64  // a telephone number, with spaces and punctuation
	maxWord     = 64  // length of an enum value
	maxTag      = 35  // a language tag (RFC 5646 §4.4.1)
	maxCountry  = 2   // length of a country code (ISO 3166-1 alpha-2)
	maxClock    = 5   // length of HH:MM
	maxDate     = 10  // length of YYYY-MM-DD
	maxAmount   = 32  // length of a decimal number
	maxHost     = 253 // a host name (RFC 1035 §2.3.4)
	maxMail     = 254 // a mail address (RFC 5321 §4.5.3.1.3)
	maxZone     = 64  // a zone of the time zone database
	maxRoles    = 20  // permissions or grant types of a credential
	maxVersions = 1e9 // highest version number

	maxDialled      = 21 // a plus sign and 20 digits
	maxExpectations = 20 // texts of an expectation in a pathway test
	maxSentences    = 100
	maxSpans        = 10 // periods of opening hours per day
)

func textLimit(length int) memberLimit          { return memberLimit{Length: length} }
func listLimit(entries, length int) memberLimit { return memberLimit{Items: entries, Length: length} }

func numberLimit(least, most float64) memberLimit {
	return memberLimit{Min: &least, Max: &most}
}

// memberLimits returns the limits of request body members. The keys are "Schema.member", or "*.member" for a limit that
// is the same in all schemas.
func memberLimits() map[string]memberLimit {
	all := commonLimits()
	for _, some := range []map[string]memberLimit{agentLimits(), pathwayLimits(), campaignLimits(), trunkLimits(), accountLimits()} {
		maps.Copy(all, some)
	}
	return all
}

func commonLimits() map[string]memberLimit {
	all := map[string]memberLimit{
		"*.name": textLimit(validation.MaxName), "*.metadata": listLimit(validation.MaxMetadata, validation.MaxMetadataValue), "*.context": listLimit(validation.MaxContext, 0),
		"*.language": textLimit(maxTag), "*.timezone": textLimit(maxZone), "*.start": textLimit(maxWord), "*.end": textLimit(maxWord),
		"*.country": textLimit(maxCountry), "*.default_country": textLimit(maxCountry), "*.number_country": textLimit(maxCountry),
		"NewHours.start": textLimit(maxClock), "NewHours.end": textLimit(maxClock), "NewSpan.start": textLimit(maxClock), "NewSpan.end": textLimit(maxClock),
		"NewReminderHours.start": textLimit(maxClock), "NewReminderHours.end": textLimit(maxClock),
		"*.url": textLimit(validation.MaxURL), "*.secret": textLimit(validation.MaxSecret), "*.extension": textLimit(maxWord), "*.username": textLimit(validation.MaxCredential),
		"*.body": textLimit(sms.MaxBody), "*.media": listLimit(sms.MaxMedia, validation.MaxURL), "*.notes": textLimit(validation.MaxNotes), "*.reason": textLimit(validation.MaxReason),
		"*.allowed_ips": listLimit(access.MaxAllowedIPs, maxWord), "*.permissions": listLimit(maxRoles, maxWord), "*.excluded_dates": listLimit(validation.MaxExcludedDates, maxDate),
		"*.prefixes": listLimit(validation.MaxPrefixes, maxWord), "*.headers": listLimit(validation.MaxHeaders, validation.MaxHeaderValue), "*.version": numberLimit(1, maxVersions),
	}
	for _, id := range []string{
		"agent_id", "pathway_id", "trunk_id", "campaign_id", "call_id", "list_id", "tool_id", "dnc_list_id", "message_id", "watches_workspace_id",
	} {
		all["*."+id] = textLimit(maxID)
	}
	for _, number := range []string{"to", "from", "number", "phone"} {
		all["*."+number] = textLimit(maxNumber)
	}
	return all
}

func agentLimits() map[string]memberLimit {
	return map[string]memberLimit{
		"*.first_message": textLimit(validation.MaxFirstMessage), "*.system_prompt": textLimit(validation.MaxSystemPrompt), "*.engine": textLimit(validation.MaxEngineName),
		"*.languages": listLimit(validation.MaxLanguages, 0), "*.tools": listLimit(validation.MaxAgentTools, maxID), "*.knowledge_base_ids": listLimit(validation.MaxAgentBases, maxID),
		"*.pronunciations": listLimit(validation.MaxPronunciations, 0), "*.word": textLimit(validation.MaxName), "*.say": textLimit(validation.MaxName), "*.rate": numberLimit(validation.MinRate, validation.MaxRate),
		"NewSTT.keywords": listLimit(validation.MaxEngineWords, validation.MaxEngineName), "NewAgentTransfer.destinations": listLimit(validation.MaxDestinations, 0),
		"NewAnalysis.fields": listLimit(validation.MaxFields, 0), "NewAnalysisField.values": listLimit(validation.MaxFieldValues, validation.MaxName),
		"NewReminder.body": textLimit(sms.MaxBody), "*.reminders": listLimit(validation.MaxReminders, 0), "*.hours": {Items: len(validation.Weekdays()), Each: maxSpans},
		"*.type": textLimit(validation.MaxType), "CancelAppointmentRequest.reason": textLimit(validation.MaxReason),
		"*.sources": listLimit(knowledge.MaxSources, 0), "NewSource.content": textLimit(knowledge.MaxPDFBytes * 4 / 3), "NewSource.text": textLimit(knowledge.MaxSourceBytes),
		"KnowledgeQuery.query": textLimit(knowledge.MaxQueryLength), "*.description": textLimit(validation.MaxDescription),
		"TestInbound.from": textLimit(maxNumber), "TestInbound.says": textLimit(validation.MaxTestSays), "TestInbound.name": textLimit(validation.MaxTestName), "TestInbound.digits": textLimit(maxWord),
		"SMSGatewayEvent.id": textLimit(validation.MaxName), "SMSGatewayEvent.error_code": textLimit(maxWord), "SMSGatewayEvent.error_message": textLimit(validation.MaxReason),
		"TicketRequest.path": textLimit(validation.MaxReason),
	}
}

func pathwayLimits() map[string]memberLimit {
	words := listLimit(maxExpectations, pathway.MaxNotes) // texts that a pathway test expects or forbids in the agent's speech
	values := listLimit(pathway.MaxVariables, pathway.MaxNotes)
	return map[string]memberLimit{
		"*.nodes": listLimit(pathway.MaxNodes, 0), "*.edges": listLimit(pathway.MaxEdges, 0), "*.variables": values,
		"Edge.from": textLimit(maxID), "Edge.to": textLimit(maxID),
		"When.digits": textLimit(pathway.MaxDigits), "When.intent": textLimit(validation.MaxName), "When.expr": textLimit(pathway.MaxNotes), "When.prompt": textLimit(pathway.MaxNotes),
		"When.words": listLimit(pathway.MaxEdgeWords, validation.MaxName),
		"Node.id":    textLimit(maxID), "Node.prompt": textLimit(pathway.MaxPrompt), "Node.retry_prompt": textLimit(pathway.MaxPrompt), "Node.save_as": textLimit(maxID), "Node.list": textLimit(validation.MaxName),
		"Node.digits": textLimit(pathway.MaxPrompt), "Node.notes": textLimit(pathway.MaxNotes), "Node.summary": textLimit(pathway.MaxSummary), "Node.destination": textLimit(validation.MaxName),
		"Node.input": textLimit(maxWord), "Node.action": textLimit(maxWord), "Node.values": listLimit(pathway.MaxNodes, validation.MaxName),
		"Node.extract": listLimit(pathway.MaxArguments, 0), "Node.arguments": listLimit(pathway.MaxArguments, pathway.MaxNotes),
		"Node.length": numberLimit(0, pathway.MaxDigits), "Node.retries": numberLimit(0, pathway.MaxRetries), "Node.max_turns": numberLimit(0, domain.MaxTurns),
		"Node.timeout_seconds": numberLimit(0, pathway.MaxTimeoutSeconds), "TurnTaking.interruption_words": numberLimit(0, domain.MaxInterruptionWords),
		"TurnTaking.end_of_turn_ms": numberLimit(0, domain.MaxTurnSilenceMs), "TurnTaking.end_of_complete_turn_ms": numberLimit(0, domain.MaxTurnSilenceMs), "TurnTaking.end_of_incomplete_turn_ms": numberLimit(0, domain.MaxTurnSilenceMs),
		"AnalysisField.name": textLimit(maxID), "AnalysisField.type": textLimit(maxWord), "AnalysisField.values": listLimit(pathway.MaxNodes, validation.MaxName),
		"Variable.name": textLimit(maxID), "Variable.default": textLimit(pathway.MaxNotes),
		"Assign.intent": textLimit(validation.MaxName), "Assign.notes": textLimit(pathway.MaxNotes),
		"ChatModelCall.tool": textLimit(maxID), "ChatModelAnswer.sentences": listLimit(maxSentences, pathway.MaxTextBytes),
		"ScenarioResult.intent": textLimit(validation.MaxName), "ScenarioResult.outcome": textLimit(maxWord),
		"ScenarioResult.says": words, "ScenarioResult.says_not": words, "ScenarioResult.actions": words,
		"ScenarioExpect.says": words, "ScenarioExpect.says_not": words, "ScenarioExpect.actions": words,
	}
}

func campaignLimits() map[string]memberLimit {
	webhooks := listLimit(validation.MaxEvents, validation.MaxURL)
	return map[string]memberLimit{
		"*.contacts": listLimit(validation.MaxInlineContacts, 0), "ContactsUpload.contacts": {}, // "ContactsUpload.contacts" is bounded by the size of the body only
		"*.webhooks": webhooks, "*.days": listLimit(len(validation.Weekdays()), maxWord),
		"*.retry_on": listLimit(len(validation.RetryOutcomes()), maxWord), "*.max_attempts": numberLimit(1, validation.MaxAttempts), "*.interval_hours": numberLimit(0, validation.MaxIntervalHours),
		"*.calls_per_minute": numberLimit(1, validation.MaxLimit), "*.max_concurrent": numberLimit(1, validation.MaxLimit), "*.mode": textLimit(maxWord),
		"NewCallerID.name": textLimit(validation.MaxCallerName), "NewOptOut.keywords": listLimit(validation.MaxKeywords, validation.MaxMetadataKey), "NewOptOut.action": textLimit(maxWord),
		"TransferRequest.destination": textLimit(validation.MaxName),
		"NewExportFilters.status":     textLimit(maxWord), "NewExportFilters.types": listLimit(validation.MaxEvents, maxWord),
		"DNCNumbers.entries": {Length: maxNumber},
	}
}

func trunkLimits() map[string]memberLimit {
	return map[string]memberLimit{
		"*.proxies": listLimit(validation.MaxProxies, 0), "*.host": textLimit(maxHost), "*.from_domain": textLimit(maxHost), "*.password": textLimit(validation.MaxCredential), "*.realm": textLimit(validation.MaxCredential),
		"NewPhone.password": textLimit(validation.MaxPhonePassword),
		"*.caller_ids":      listLimit(validation.MaxCallerIDs, maxNumber), "*.caller_id_headers": listLimit(validation.CallerIDHeaderKinds, maxWord), "*.codecs": listLimit(validation.MaxCodecs, maxWord),
		"*.media_networks": listLimit(validation.MaxNetworks, maxWord), "*.redirect_hosts": listLimit(validation.MaxNetworks, maxHost), "NewTrunkInbound.allowed_ips": listLimit(validation.MaxNetworks, maxWord),
		"NewMatch.header": textLimit(validation.MaxMatchName), "NewMatch.parameter": textLimit(validation.MaxMatchName), "NewMatch.value": textLimit(validation.MaxMatchValue),
		"*.number_strip": textLimit(maxDialled), "*.number_add": textLimit(maxDialled), "*.costs": listLimit(validation.MaxPrefixes, 0), "*.prefix": textLimit(validation.MaxPrefixLength + 1), "*.cost": textLimit(maxAmount),
		"*.calls_per_second": numberLimit(0, validation.MaxCallsPerSecond), "*.max_channels": numberLimit(0, validation.MaxChannels),
		"*.min_asr": numberLimit(0, 1), "*.max_short_call_share": numberLimit(0, 1), "*.min_acd_seconds": numberLimit(0, validation.MaxACDSeconds),
		"*.short_call_seconds": numberLimit(0, validation.MaxShortSeconds), "NewTrunkAlarms.min_calls": numberLimit(0, validation.MaxTrunkCalls),
	}
}

func accountLimits() map[string]memberLimit {
	return map[string]memberLimit{
		"*.environment": textLimit(maxWord), "*.plan": textLimit(maxWord), "*.amount": textLimit(maxAmount),
		"*.grant_types": listLimit(maxRoles, maxWord), "*.scopes": listLimit(maxRoles, maxWord), "*.redirect_uris": listLimit(validation.MaxRedirects, validation.MaxRedirect),
		"*.events": listLimit(validation.MaxEvents, maxWord), "*.event_type": textLimit(maxWord), "ReplayRequest.event_ids": {Length: maxID}, "ReplayRequest.types": {Length: maxWord},
		"EventFilters.agent_ids": listLimit(validation.MaxFilter, maxID), "EventFilters.campaign_ids": listLimit(validation.MaxFilter, maxID),
		"EventFilters.directions": listLimit(len(domain.Direction("").Values()), maxWord), "EventFilters.numbers": listLimit(validation.MaxFilter, maxNumber),
		"*.allowed_origins": listLimit(validation.MaxOrigins, validation.MaxOriginLength), "*.blocked_prefixes": listLimit(validation.MaxPrefixes, validation.MaxPrefixLength), "*.countries": listLimit(validation.MaxCountries, maxCountry),
		"*.max_call_minutes": numberLimit(0, validation.MaxCallMinutes), "*.patterns": {Length: domain.MaxPatternBytes},
		"*.requests_per_minute": numberLimit(1, validation.MaxLimit), "*.concurrent_inbound": numberLimit(0, validation.MaxLimit), "*.concurrent_outbound": numberLimit(0, validation.MaxLimit),
		"NewToken.user_id": textLimit(MaxUserID), "NewToken.expires_in": numberLimit(token.MinLifetime.Seconds(), token.MaxLifetime.Seconds()),
		"*.emails": listLimit(validation.MaxEmails, maxMail), "*.minutes": numberLimit(0, validation.MaxAlertMinutes), "*.min_calls": numberLimit(0, validation.MaxAlertCalls),
	}
}
