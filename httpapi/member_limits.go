package httpapi

import (
	"maps"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/rules"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/httpapi/token"
)

// memberLimit limits a member of a request body. A zero field sets no limit.
type memberLimit struct {
	Length   int      // characters of a string, or of each string of a list or map
	Items    int      // entries of a list or map
	Each     int      // entries of each list of a map
	Min, Max *float64 // of a number
}

// Limits of members that no rule limits more closely.
const (
	maxID       = 64  // an identifier: prefix, underscore and ULID
	maxNumber   = 64  // a telephone number, with spaces and punctuation
	maxWord     = 64  // a value of an enum
	maxTag      = 35  // a language tag (RFC 5646 §4.4.1)
	maxCountry  = 2   // ISO 3166-1 alpha-2
	maxClock    = 5   // HH:MM
	maxDate     = 10  // YYYY-MM-DD
	maxAmount   = 32  // a decimal number
	maxHost     = 253 // a host name (RFC 1035 §2.3.4)
	maxMail     = 254 // a mail address (RFC 5321 §4.5.3.1.3)
	maxZone     = 64  // a zone of the time zone database
	maxRoles    = 20  // permissions or grant types of a credential
	maxVersions = 1e9 // the number of a version

	maxDialled      = 21 // a plus sign and 20 digits
	maxExpectations = 20 // texts of an expectation in a pathway test
	maxSentences    = 100
	maxSpans        = 10 // opening hours of a day
)

func textLimit(length int) memberLimit          { return memberLimit{Length: length} }
func listLimit(entries, length int) memberLimit { return memberLimit{Items: entries, Length: length} }

func numberLimit(least, most float64) memberLimit {
	return memberLimit{Min: &least, Max: &most}
}

// memberLimits are the limits of the members of request bodies, by schema and
// member, or * and a member that has the same limit in all schemas.
func memberLimits() map[string]memberLimit {
	all := commonLimits()
	for _, some := range []map[string]memberLimit{agentLimits(), pathwayLimits(), campaignLimits(), trunkLimits(), accountLimits()} {
		maps.Copy(all, some)
	}
	return all
}

func commonLimits() map[string]memberLimit {
	all := map[string]memberLimit{
		"*.name": textLimit(rules.MaxName), "*.metadata": listLimit(rules.MaxMetadata, rules.MaxMetadataValue), "*.context": listLimit(rules.MaxContext, 0),
		"*.language": textLimit(maxTag), "*.timezone": textLimit(maxZone), "*.start": textLimit(maxWord), "*.end": textLimit(maxWord),
		"*.country": textLimit(maxCountry), "*.default_country": textLimit(maxCountry), "*.number_country": textLimit(maxCountry),
		"NewHours.start": textLimit(maxClock), "NewHours.end": textLimit(maxClock), "NewSpan.start": textLimit(maxClock), "NewSpan.end": textLimit(maxClock),
		"NewReminderHours.start": textLimit(maxClock), "NewReminderHours.end": textLimit(maxClock),
		"*.url": textLimit(rules.MaxURL), "*.secret": textLimit(rules.MaxSecret), "*.extension": textLimit(maxWord), "*.username": textLimit(rules.MaxCredential),
		"*.body": textLimit(sms.MaxBody), "*.media": listLimit(sms.MaxMedia, rules.MaxURL), "*.notes": textLimit(rules.MaxNotes), "*.reason": textLimit(rules.MaxReason),
		"*.allowed_ips": listLimit(allow.MaxAllowedIPs, maxWord), "*.permissions": listLimit(maxRoles, maxWord), "*.excluded_dates": listLimit(rules.MaxExcludedDates, maxDate),
		"*.prefixes": listLimit(rules.MaxPrefixes, maxWord), "*.headers": listLimit(rules.MaxHeaders, rules.MaxHeaderValue), "*.version": numberLimit(1, maxVersions),
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
		"*.first_message": textLimit(rules.MaxFirstMessage), "*.system_prompt": textLimit(rules.MaxSystemPrompt), "*.engine": textLimit(rules.MaxEngineName),
		"*.languages": listLimit(rules.MaxLanguages, 0), "*.tools": listLimit(rules.MaxAgentTools, maxID), "*.knowledge_base_ids": listLimit(rules.MaxAgentBases, maxID),
		"*.pronunciations": listLimit(rules.MaxPronunciations, 0), "*.word": textLimit(rules.MaxName), "*.say": textLimit(rules.MaxName), "*.rate": numberLimit(rules.MinRate, rules.MaxRate),
		"NewSTT.keywords": listLimit(rules.MaxEngineWords, rules.MaxEngineName), "NewAgentTransfer.destinations": listLimit(rules.MaxDestinations, 0),
		"NewAnalysis.fields": listLimit(rules.MaxFields, 0), "NewAnalysisField.values": listLimit(rules.MaxFieldValues, rules.MaxName),
		"NewReminder.body": textLimit(sms.MaxBody), "*.reminders": listLimit(rules.MaxReminders, 0), "*.hours": {Items: len(rules.Weekdays()), Each: maxSpans},
		"*.type": textLimit(rules.MaxType), "CancelAppointmentRequest.reason": textLimit(rules.MaxReason),
		"*.sources": listLimit(knowledge.MaxSources, 0), "NewSource.content": textLimit(knowledge.MaxPaper * 4 / 3), "NewSource.text": textLimit(knowledge.MaxBytes),
		"KnowledgeQuery.query": textLimit(knowledge.MaxQuery), "*.description": textLimit(rules.MaxDescription),
		"TestInbound.from": textLimit(maxNumber), "TestInbound.says": textLimit(rules.MaxTestSays), "TestInbound.name": textLimit(rules.MaxTestName), "TestInbound.digits": textLimit(maxWord),
		"SMSGatewayEvent.id": textLimit(rules.MaxName), "SMSGatewayEvent.error_code": textLimit(maxWord), "SMSGatewayEvent.error_message": textLimit(rules.MaxReason),
		"TicketRequest.path": textLimit(rules.MaxReason),
	}
}

func pathwayLimits() map[string]memberLimit {
	words := listLimit(maxExpectations, pathway.MaxNotes) // each of them stands in what is said
	values := listLimit(pathway.MaxVariables, pathway.MaxNotes)
	return map[string]memberLimit{
		"*.nodes": listLimit(pathway.MaxNodes, 0), "*.edges": listLimit(pathway.MaxEdges, 0), "*.variables": values,
		"Edge.from": textLimit(maxID), "Edge.to": textLimit(maxID),
		"When.digits": textLimit(pathway.MaxDigits), "When.intent": textLimit(rules.MaxName), "When.expr": textLimit(pathway.MaxNotes), "When.prompt": textLimit(pathway.MaxNotes),
		"When.words": listLimit(pathway.MaxWords, rules.MaxName),
		"Node.id":    textLimit(maxID), "Node.prompt": textLimit(pathway.MaxPrompt), "Node.retry_prompt": textLimit(pathway.MaxPrompt), "Node.save_as": textLimit(maxID),
		"Node.digits": textLimit(pathway.MaxPrompt), "Node.notes": textLimit(pathway.MaxNotes), "Node.summary": textLimit(pathway.MaxSummary), "Node.destination": textLimit(rules.MaxName),
		"Node.input": textLimit(maxWord), "Node.action": textLimit(maxWord), "Node.values": listLimit(pathway.MaxNodes, rules.MaxName),
		"Node.extract": listLimit(pathway.MaxArguments, 0), "Node.arguments": listLimit(pathway.MaxArguments, pathway.MaxNotes),
		"Node.length": numberLimit(0, pathway.MaxDigits), "Node.retries": numberLimit(0, pathway.MaxRetries), "Node.max_turns": numberLimit(0, pathway.MaxModelTurns),
		"Node.timeout_seconds": numberLimit(0, pathway.MaxTimeoutSeconds),
		"AnalysisField.name":   textLimit(maxID), "AnalysisField.type": textLimit(maxWord), "AnalysisField.values": listLimit(pathway.MaxNodes, rules.MaxName),
		"Variable.name": textLimit(maxID), "Variable.default": textLimit(pathway.MaxNotes),
		"Assign.intent": textLimit(rules.MaxName), "Assign.notes": textLimit(pathway.MaxNotes),
		"ChatModelCall.tool": textLimit(maxID), "ChatModelAnswer.sentences": listLimit(maxSentences, pathway.MaxSpoken),
		"ScenarioResult.intent": textLimit(rules.MaxName), "ScenarioResult.outcome": textLimit(maxWord),
		"ScenarioResult.says": words, "ScenarioResult.says_not": words, "ScenarioResult.actions": words,
		"ScenarioExpect.says": words, "ScenarioExpect.says_not": words, "ScenarioExpect.actions": words,
	}
}

func campaignLimits() map[string]memberLimit {
	webhooks := listLimit(rules.MaxEvents, rules.MaxURL)
	return map[string]memberLimit{
		"*.contacts": listLimit(rules.MaxInlineContacts, 0), "ContactsUpload.contacts": {}, // as many as the body holds
		"*.webhooks": webhooks, "*.days": listLimit(len(rules.Weekdays()), maxWord),
		"*.retry_on": listLimit(len(rules.RetryOutcomes()), maxWord), "*.max_attempts": numberLimit(1, rules.MaxAttempts), "*.interval_hours": numberLimit(0, rules.MaxIntervalHours),
		"*.calls_per_minute": numberLimit(1, rules.MaxLimit), "*.max_concurrent": numberLimit(1, rules.MaxLimit), "*.mode": textLimit(maxWord),
		"NewCallerID.name": textLimit(rules.MaxCallerName), "NewOptOut.keywords": listLimit(rules.MaxKeywords, rules.MaxMetadataKey), "NewOptOut.action": textLimit(maxWord),
		"TransferRequest.destination": textLimit(rules.MaxName),
		"NewExportFilters.status":     textLimit(maxWord), "NewExportFilters.types": listLimit(rules.MaxEvents, maxWord),
		"DNCNumbers.entries": {Length: maxNumber},
	}
}

func trunkLimits() map[string]memberLimit {
	return map[string]memberLimit{
		"*.proxies": listLimit(rules.MaxProxies, 0), "*.host": textLimit(maxHost), "*.from_domain": textLimit(maxHost), "*.password": textLimit(rules.MaxCredential), "*.realm": textLimit(rules.MaxCredential),
		"NewPhone.password": textLimit(rules.MaxPhonePassword),
		"*.caller_ids":      listLimit(rules.MaxCallerIDs, maxNumber), "*.caller_id_headers": listLimit(rules.CallerIDHeaderKinds, maxWord), "*.codecs": listLimit(rules.MaxCodecs, maxWord),
		"*.media_networks": listLimit(rules.MaxNetworks, maxWord), "*.redirect_hosts": listLimit(rules.MaxNetworks, maxHost), "NewTrunkInbound.allowed_ips": listLimit(rules.MaxNetworks, maxWord),
		"NewMatch.header": textLimit(rules.MaxMatchName), "NewMatch.parameter": textLimit(rules.MaxMatchName), "NewMatch.value": textLimit(rules.MaxMatchValue),
		"*.number_strip": textLimit(maxDialled), "*.number_add": textLimit(maxDialled), "*.costs": listLimit(rules.MaxPrefixes, 0), "*.prefix": textLimit(rules.MaxPrefixLength + 1), "*.cost": textLimit(maxAmount),
		"*.calls_per_second": numberLimit(0, rules.MaxCallsPerSecond), "*.max_channels": numberLimit(0, rules.MaxChannels),
		"*.min_asr": numberLimit(0, 1), "*.max_short_call_share": numberLimit(0, 1), "*.min_acd_seconds": numberLimit(0, rules.MaxACDSeconds),
		"*.short_call_seconds": numberLimit(0, rules.MaxShortSeconds), "NewTrunkAlarms.min_calls": numberLimit(0, rules.MaxTrunkCalls),
	}
}

func accountLimits() map[string]memberLimit {
	return map[string]memberLimit{
		"*.environment": textLimit(maxWord), "*.plan": textLimit(maxWord), "*.amount": textLimit(maxAmount),
		"*.grant_types": listLimit(maxRoles, maxWord), "*.scopes": listLimit(maxRoles, maxWord), "*.redirect_uris": listLimit(rules.MaxRedirects, rules.MaxRedirect),
		"*.events": listLimit(rules.MaxEvents, maxWord), "*.event_type": textLimit(maxWord), "ReplayRequest.event_ids": {Length: maxID}, "ReplayRequest.types": {Length: maxWord},
		"EventFilters.agent_ids": listLimit(rules.MaxFilter, maxID), "EventFilters.campaign_ids": listLimit(rules.MaxFilter, maxID),
		"EventFilters.directions": listLimit(len(domain.Direction("").Values()), maxWord), "EventFilters.numbers": listLimit(rules.MaxFilter, maxNumber),
		"*.allowed_origins": listLimit(rules.MaxOrigins, rules.MaxOriginLength), "*.blocked_prefixes": listLimit(rules.MaxPrefixes, rules.MaxPrefixLength), "*.countries": listLimit(rules.MaxCountries, maxCountry),
		"*.max_call_minutes": numberLimit(0, rules.MaxCallMinutes), "*.patterns": {Length: domain.MaxPatternBytes},
		"*.requests_per_minute": numberLimit(1, rules.MaxLimit), "*.concurrent_inbound": numberLimit(0, rules.MaxLimit), "*.concurrent_outbound": numberLimit(0, rules.MaxLimit),
		"NewToken.user_id": textLimit(maxUserID), "NewToken.expires_in": numberLimit(token.Shortest.Seconds(), token.Longest.Seconds()),
		"*.emails": listLimit(rules.MaxEmails, maxMail), "*.minutes": numberLimit(0, rules.MaxAlertMinutes), "*.min_calls": numberLimit(0, rules.MaxAlertCalls),
	}
}
