package dashboard

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels are the words that pages show for names of the API whose own words are not clear enough. Other names are shown
// with spaces in place of underscores.
func labels() map[string]string {
	return map[string]string{
		"agent_id": "Agent", "pathway_id": "Pathway", "campaign_id": "Campaign", "trunk_id": "Trunk", "knowledge_base_ids": "Knowledge", "dnc_list_ids": "Do-not-call lists",
		"llm": "Language model", "stt": "Speech recognition", "tts": "Speech synthesis", "amd": "Answering machines", "sms": "Text messages", "dtmf": "Key presses (DTMF)", "srtp": "Encrypted audio (SRTP)",
		"nat": "NAT", "url": "URL", "ip": "IP address", "allowed_ips": "Allowed addresses", "max_channels": "Concurrent calls", "proxies": "SIP servers", "outbound_proxy": "Outbound proxy",
		"options_ping": "Check by OPTIONS", "from_domain": "From domain", "caller_ids": "Caller IDs", "caller_id_headers": "Caller ID headers", "register": "Register at the first server",
		"on_inbound": "Webhook at inbound calls", "end_of_turn_ms": "End of turn, ms", "end_of_complete_turn_ms": "End of a complete answer, ms", "end_of_incomplete_turn_ms": "End of an incomplete sentence, ms",
		"timeout_ms": "Timeout, ms", "max_concurrent": "Calls at once", "calls_per_minute": "Calls per minute", "calls_per_second": "Calls per second", "concurrent_outbound": "Outbound calls at once", "concurrent_inbound": "Inbound calls at once",
		"duration_seconds": "Duration", "created_at": "Created", "updated_at": "Changed", "expires_at": "Expires", "status": "Status", "min_asr": "Minimum answer rate", "min_acd_seconds": "Minimum average duration, s",
		"timezone": "Time zone", "calls_days": "Calls", "recordings_days": "Recordings", "transcripts_days": "Transcripts", "traces_days": "SIP messages", "messages_days": "Text messages", "appointments_days": "Appointments",
		"events_days": "Events and deliveries", "decisions_days": "Decisions", "audit_days": "Audit log", "ledger_days": "Billing records", "uploads_days": "Upload reports", "srtp_keys_in_clear": "SRTP keys without TLS",
		"no_answer": "No answer", "in_progress": "In progress", "retry_wait": "Retry due", "exhausted": "All contacts reached their last attempt", "given_up": "Failed deliveries",
		"per_number_per_day": "Attempts per number and day", "default_country": "Default country", "allowed_origins": "Allowed origins",
		"redirect_uris": "Redirect URIs", "e164": "E.164", "udp": "UDP", "tcp": "TCP", "tls": "TLS", "csv": "CSV", "jsonl": "JSON Lines", "pdf": "PDF",
	}
}

// labelOf returns the label of a name of the API.
func labelOf(name string) string {
	if l := labels()[name]; l != "" {
		return l
	}
	words := strings.ReplaceAll(name, "_", " ")
	for _, short := range []string{"id", "url", "sip", "ip", "api", "ms", "http"} {
		words = regexp.MustCompile(`\b`+short+`\b`).ReplaceAllString(words, strings.ToUpper(short))
	}
	return sentenceCase(words)
}

// sentenceCase returns a text with a capital at its beginning.
func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// memberNames finds names of API members in a text, such as first_message.
var memberNames = regexp.MustCompile(`\b[a-z]+(_[a-z0-9]+)+\b`) //nolint:gochecknoglobals // never changed

// plainHint returns the description of an API member with words in place of member names, and without the value that the
// description of a yes-or-no member begins with.
func plainHint(description string) string {
	return memberNames.ReplaceAllStringFunc(sentenceCase(strings.TrimPrefix(description, "true: ")), func(name string) string {
		return strings.ReplaceAll(name, "_", " ")
	})
}

// indexes are the positions of list entries in the name of a parameter.
var indexes = regexp.MustCompile(`\[\d+\]`) //nolint:gochecknoglobals // never changed

// paramLabel returns the label of a parameter of the API, such as "Calls per minute" for pacing.calls_per_minute.
func paramLabel(param string) string {
	name := indexes.ReplaceAllString(param, "")
	return labelOf(name[strings.LastIndexByte(name, '.')+1:])
}

// sentenceFor returns a message of the API with the label of a field in place of the parameter with which it begins.
func sentenceFor(message, param, label string) string {
	rest, ok := strings.CutPrefix(message, param)
	if param == "" || !ok {
		return message
	}
	if !strings.HasSuffix(rest, ".") {
		rest += "."
	}
	return label + rest
}
