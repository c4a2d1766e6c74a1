// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListTrunksQuery is what ListTrunks can be asked; what is zero is left out.
type ListTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListTrunksQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListTrunks: List trunks.
//
// GET /v1/trunks
func (c *Client) ListTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) (*ListTrunk, error) {
	return send[ListTrunk](ctx, c, "GET", "/v1/trunks", q.values(), nil, options)
}

// AllTrunks walks the pages of ListTrunks to their end; an error is the last that comes.
func (c *Client) AllTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListTrunks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTrunk: Connect a trunk.
//
// POST /v1/trunks
//
// Needs an API key or a dashboard session. A trunk of the test environment is stored and never used, as its warnings tell: test keys reach the built-in carrier only. number_strip, number_add and costs take an operator key, else 403 operator_required. warnings also tell of numbers without a cost under a daily_spend_cap.
func (c *Client) CreateTrunk(ctx context.Context, body *NewTrunk, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "POST", "/v1/trunks", nil, asJSON(body), options)
}

// DeleteTrunk: Disconnect a trunk.
//
// DELETE /v1/trunks/{id}
//
// 409 invalid_state while a phone number stands on it.
func (c *Client) DeleteTrunk(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// GetTrunk: Get a trunk.
//
// GET /v1/trunks/{id}
func (c *Client) GetTrunk(ctx context.Context, id string, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "GET", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// UpdateTrunk: Change a trunk.
//
// PATCH /v1/trunks/{id}
//
// Needs an API key or a dashboard session. Calls that are running go on as they began. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country take an operator key, else 403 operator_required; so does a change of costs.
func (c *Client) UpdateTrunk(ctx context.Context, id string, body *TrunkUpdate, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/trunks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestTrunk: Ask a trunk whether it lives.
//
// POST /v1/trunks/{id}/test
//
// Sends OPTIONS to each target, those that its names lead to included, and tells what they answered. Nothing is sent to a trunk of the test environment; each target tells that.
func (c *Client) TestTrunk(ctx context.Context, id string, options ...Option) (*TrunkTest, error) {
	return send[TrunkTest](ctx, c, "POST", "/v1/trunks/"+url.PathEscape(id)+"/test", nil, nil, options)
}

// ListTrunk is an answer of the service, or a part of one.
type ListTrunk struct {
	// The rows of this page.
	Data []Trunk `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewProxy is sent to the service.
type NewProxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0 or left out: 5060, over TLS 5061; of a name by its SRV records first.
	Port *int64 `json:"port,omitempty"`
	// Lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Left out: udp, or what the NAPTR and SRV records of a name without a port say. One of udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// Share among targets of one priority.
	Weight *int64 `json:"weight,omitempty"`
}

// NewRate is sent to the service.
type NewRate struct {
	// Dollars a minute, at most 1000.00; counted by the second.
	Cost string `json:"cost"`
	// + is everywhere. The longest that matches counts.
	Prefix string `json:"prefix"`
}

// NewTrunk is sent to the service.
type NewTrunk struct {
	// Beyond these bounds, over the last hour, system.degraded is sent.
	Alarms *NewTrunkAlarms `json:"alarms,omitempty"`
	// Answers the trunk's digest challenges.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// P-Asserted-Identity, Remote-Party-ID, Diversion: sent to the trunk, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers,omitzero"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids,omitzero"`
	// 50 unless said. Calls wait for their turn.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// PCMU, PCMA, G722, opus, in the order of preference.
	Codecs []string `json:"codecs,omitzero"`
	// Among trunks of one priority: cheaper first. They also count for daily_spend_cap. Takes an operator key.
	Costs []NewRate `json:"costs,omitzero"`
	// The way of key presses; auto: as events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// The host of From; empty: our own.
	FromDomain *string `json:"from_domain,omitempty"`
	// From where its calls may come.
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	// 0: no limit of its own.
	MaxChannels *int64 `json:"max_channels,omitempty"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Then put before it. Takes an operator key. What is dialled must read as the same number.
	NumberAdd *string `json:"number_add,omitempty"`
	// ISO 3166. Of national, and of numbers that come in without a country code.
	NumberCountry *string `json:"number_country,omitempty"`
	// +12025550100, 12025550100, or as it is dialled within number_country. One of e164, digits, national.
	NumberFormat *string `json:"number_format,omitempty"`
	// Taken off the beginning of the number called, once it is written. Takes an operator key.
	NumberStrip *string `json:"number_strip,omitempty"`
	// Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed.
	OptionsPing *bool `json:"options_ping,omitempty"`
	// What goes to the proxies is sent by way of it.
	OutboundProxy *NewProxy `json:"outbound_proxy,omitempty"`
	// Numbers that it takes; empty: all. The trunk with the longest one is taken.
	Prefixes []string `json:"prefixes,omitzero"`
	// Among trunks of one prefix length: lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Its targets, 20 at most.
	Proxies []NewProxy `json:"proxies"`
	// Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed.
	RedirectHosts []string `json:"redirect_hosts,omitzero"`
	// Registers at the first proxy with the credentials of auth.
	Register *bool `json:"register,omitempty"`
	// How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports. One of off, plain, imdn.
	SMS *string `json:"sms,omitempty"`
	// Keys go in the SDP: without transport tls, optional counts as off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
}

// NewTrunkAlarms is sent to the service.
type NewTrunkAlarms struct {
	// Short ones of answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare *float64 `json:"max_short_call_share,omitempty"`
	// Mean length of answered calls. 0: no alarm.
	MinAcdSeconds *float64 `json:"min_acd_seconds,omitempty"`
	// Answered of attempted calls, 0 to 1. 0: no alarm.
	MinAsr *float64 `json:"min_asr,omitempty"`
	// There is no judgement over fewer calls.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// Up to here a call is short.
	ShortCallSeconds *int64 `json:"short_call_seconds,omitempty"`
}

// NewTrunkAuth is sent to the service.
type NewTrunkAuth struct {
	// Never shown again.
	Password *string `json:"password,omitempty"`
	// The only realm that is answered; empty: any.
	Realm *string `json:"realm,omitempty"`
	// The name at the carrier.
	Username string `json:"username"`
}

// NewTrunkInbound is sent to the service.
type NewTrunkInbound struct {
	// Addresses and networks. Empty: the addresses of the proxies.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Calls have to prove it by digest.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503 with Retry-After. 0: no limit of its own.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
}

// Proxy is an answer of the service, or a part of one.
type Proxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0: by DNS.
	Port int64 `json:"port"`
	// Lower first.
	Priority int64 `json:"priority"`
	// udp, tcp or tls; empty: by DNS.
	Transport string `json:"transport"`
	// Share among targets of one priority.
	Weight int64 `json:"weight"`
}

// ProxyUpdate is sent to the service.
type ProxyUpdate struct {
	// A name or an address.
	Host *string `json:"host,omitempty"`
	// 0 or left out: 5060, over TLS 5061; of a name by its SRV records first.
	Port Optional[int64] `json:"port,omitzero"`
	// Lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Left out: udp, or what the NAPTR and SRV records of a name without a port say. One of udp, tcp, tls.
	Transport Optional[string] `json:"transport,omitzero"`
	// Share among targets of one priority.
	Weight Optional[int64] `json:"weight,omitzero"`
}

// Rate is an answer of the service, or a part of one.
type Rate struct {
	// Dollars a minute.
	Cost string `json:"cost"`
	// The beginning of the number; + is everywhere.
	Prefix string `json:"prefix"`
}

// TargetHealth is an answer of the service, or a part of one.
type TargetHealth struct {
	// How often it failed since it last did not.
	ConsecutiveFailures int64 `json:"consecutive_failures"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Until then it is tried last.
	OutUntil *time.Time `json:"out_until"`
	// What it answered to OPTIONS.
	PingCode int64 `json:"ping_code,omitzero"`
	// How long that took.
	PingMs int64 `json:"ping_ms,omitzero"`
	// Whether it answered.
	PingOk *bool `json:"ping_ok"`
	// When it was asked by OPTIONS.
	PingedAt *time.Time `json:"pinged_at"`
	// As the trunk names it.
	Proxy string `json:"proxy"`
	// up, out (tried last) or resting (not tried).
	Status string `json:"status"`
	// host:port;transport.
	Target string `json:"target"`
}

// TargetTest is an answer of the service, or a part of one.
type TargetTest struct {
	// The methods that it says it knows.
	Allow string `json:"allow,omitzero"`
	// What it answered; 0: nothing.
	Code int64 `json:"code"`
	// Why there was no answer.
	Error string `json:"error,omitzero"`
	// Whether it answered.
	Reachable bool `json:"reachable"`
	// The phrase of its answer.
	Reason string `json:"reason"`
	// How long that took.
	ResponseTimeMs int64 `json:"response_time_ms"`
	// What it calls itself.
	Server string `json:"server,omitzero"`
	// host:port;transport.
	Target string `json:"target"`
}

// Trunk is an answer of the service, or a part of one.
type Trunk struct {
	// Bounds beyond which system.degraded is sent.
	Alarms TrunkAlarms `json:"alarms"`
	// What answers its digest challenges; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Headers that tell who calls: sent to it, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids"`
	// How many calls may begin in a second; others wait for their turn.
	CallsPerSecond float64 `json:"calls_per_second"`
	// In the order of preference.
	Codecs []string `json:"codecs"`
	// What a minute costs, by prefix.
	Costs []Rate `json:"costs"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it. Missing where an earlier version created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// The way of key presses.
	Dtmf string `json:"dtmf"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The host of From; empty: our own.
	FromDomain string `json:"from_domain,omitzero"`
	// How it does now.
	Health *TrunkHealth `json:"health,omitempty"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// From where its calls may come.
	Inbound TrunkInbound `json:"inbound"`
	// Calls at once; 0: no limit of its own.
	MaxChannels int64 `json:"max_channels"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Put before the number called.
	NumberAdd string `json:"number_add,omitzero"`
	// ISO 3166: how numbers without a country code are read and written.
	NumberCountry string `json:"number_country,omitzero"`
	// e164, digits or national.
	NumberFormat string `json:"number_format"`
	// Whether an operator has set number_strip and number_add. Only then number_add may be the prefix of a carrier or a private exchange.
	NumberRewriteApproved bool `json:"number_rewrite_approved,omitzero"`
	// Taken off the beginning of the number called.
	NumberStrip string `json:"number_strip,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whether its targets are asked every 30 seconds if they live.
	OptionsPing bool `json:"options_ping"`
	// What is sent to the proxies goes by way of it.
	OutboundProxy *Proxy `json:"outbound_proxy,omitempty"`
	// Beginnings of the numbers that it takes; empty: all.
	Prefixes []string `json:"prefixes"`
	// Among trunks of one prefix length: lower first.
	Priority int64 `json:"priority"`
	// Its targets.
	Proxies []Proxy `json:"proxies"`
	// What became of its calls.
	Quality *TrunkQuality `json:"quality,omitempty"`
	// Names, addresses and networks to which its 3xx may send a call on, for the same number; empty: it is not followed.
	RedirectHosts []string `json:"redirect_hosts"`
	// Whether it is registered at.
	Register bool `json:"register"`
	// The built-in carrier.
	Simulator bool `json:"simulator,omitzero"`
	// Where the carrier is to send calls.
	SIPURI string `json:"sip_uri,omitzero"`
	// How it carries text messages by SIP MESSAGE: off, plain, or imdn for CPIM with delivery reports.
	SMS string `json:"sms"`
	// Whether the sound is encrypted: off, optional or required.
	Srtp string `json:"srtp"`
	// Whether keys are told without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// test_environment: the trunk was created with a test key and is never used. spend_cap_without_costs: daily_spend_cap does not hold for all calls over it.
	Warnings []Detail `json:"warnings,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// TrunkAlarms is an answer of the service, or a part of one.
type TrunkAlarms struct {
	// Short ones of answered calls, 0 to 1; 0: no alarm.
	MaxShortCallShare float64 `json:"max_short_call_share"`
	// Mean length of answered calls; 0: no alarm.
	MinAcdSeconds float64 `json:"min_acd_seconds"`
	// Answered of attempted calls, 0 to 1; 0: no alarm.
	MinAsr float64 `json:"min_asr"`
	// There is no judgement over fewer calls.
	MinCalls int64 `json:"min_calls"`
	// Up to here a call is short.
	ShortCallSeconds int64 `json:"short_call_seconds"`
}

// TrunkAlarmsUpdate is sent to the service.
type TrunkAlarmsUpdate struct {
	// Short ones of answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare Optional[float64] `json:"max_short_call_share,omitzero"`
	// Mean length of answered calls. 0: no alarm.
	MinAcdSeconds Optional[float64] `json:"min_acd_seconds,omitzero"`
	// Answered of attempted calls, 0 to 1. 0: no alarm.
	MinAsr Optional[float64] `json:"min_asr,omitzero"`
	// There is no judgement over fewer calls.
	MinCalls Optional[int64] `json:"min_calls,omitzero"`
	// Up to here a call is short.
	ShortCallSeconds Optional[int64] `json:"short_call_seconds,omitzero"`
}

// TrunkAuth is an answer of the service, or a part of one.
type TrunkAuth struct {
	// Never shown.
	Password string `json:"password,omitzero"`
	// The only realm that is answered; empty: any.
	Realm string `json:"realm,omitzero"`
	// The name at the carrier.
	Username string `json:"username"`
}

// TrunkAuthUpdate is sent to the service.
type TrunkAuthUpdate struct {
	// Never shown again.
	Password Optional[string] `json:"password,omitzero"`
	// The only realm that is answered; empty: any.
	Realm Optional[string] `json:"realm,omitzero"`
	// The name at the carrier.
	Username *string `json:"username,omitempty"`
}

// TrunkHealth is an answer of the service, or a part of one.
type TrunkHealth struct {
	// It asked for a pause until then.
	BackoffUntil *time.Time `json:"backoff_until"`
	// Calls over it now.
	Channels int64 `json:"channels"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Where its registration stands; only of a trunk that registers.
	Registration *TrunkRegistration `json:"registration,omitempty"`
	// up, degraded (a target is out, or it rests) or down (all are out).
	Status string `json:"status"`
	// Each of its targets, those that DNS yields included.
	Targets []TargetHealth `json:"targets"`
	// Calls that wait for their turn.
	Waiting int64 `json:"waiting"`
}

// TrunkInbound is an answer of the service, or a part of one.
type TrunkInbound struct {
	// From where its calls may come; empty: its proxies' addresses.
	AllowedIPs []string `json:"allowed_ips"`
	// What its calls have to prove; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503; 0: no limit of its own.
	CallsPerSecond float64 `json:"calls_per_second"`
}

// TrunkInboundUpdate is sent to the service.
type TrunkInboundUpdate struct {
	// Addresses and networks. Empty: the addresses of the proxies.
	AllowedIPs Optional[[]string] `json:"allowed_ips,omitzero"`
	// Calls have to prove it by digest.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// Calls beyond get 503 with Retry-After. 0: no limit of its own.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
}

// TrunkQuality is an answer of the service, or a part of one.
type TrunkQuality struct {
	// Mean length of answered calls.
	AcdSeconds float64 `json:"acd_seconds"`
	// What is beyond its bound now.
	Alarms []string `json:"alarms"`
	// Calls that were answered.
	Answered int64 `json:"answered"`
	// Answered of attempted calls, 0 to 1.
	Asr float64 `json:"asr"`
	// Calls that came to an answer or a refusal.
	Attempts int64 `json:"attempts"`
	// Calls that came in and were taken, since the start of the service.
	InboundCalls int64 `json:"inbound_calls"`
	// Calls that came in and were refused, by reason.
	InboundRefusals map[string]int64 `json:"inbound_refusals"`
	// Calls that it refused, by reason.
	Refusals map[string]int64 `json:"refusals"`
	// Short ones of answered calls, 0 to 1.
	ShortCallShare float64 `json:"short_call_share"`
	// Answered calls that were short.
	ShortCalls int64 `json:"short_calls"`
	// How far back this looks.
	WindowSeconds int64 `json:"window_seconds"`
}

// TrunkRegistration is an answer of the service, or a part of one.
type TrunkRegistration struct {
	// The last answer.
	Code int64 `json:"code,omitzero"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at"`
	// The phrase of the last answer.
	Reason string `json:"reason,omitzero"`
	// When it is tried again.
	RetryAt *time.Time `json:"retry_at"`
	// trying, registered, failed or removed.
	Status string `json:"status"`
}

// TrunkTest is an answer of the service, or a part of one.
type TrunkTest struct {
	// Whether any target answered.
	Ok bool `json:"ok"`
	// Each target and what it answered.
	Targets []TargetTest `json:"targets"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
}

// TrunkUpdate is sent to the service.
type TrunkUpdate struct {
	// Beyond these bounds, over the last hour, system.degraded is sent.
	Alarms Optional[TrunkAlarmsUpdate] `json:"alarms,omitzero"`
	// Answers the trunk's digest challenges.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// P-Asserted-Identity, Remote-Party-ID, Diversion: sent to the trunk, and believed of it.
	CallerIDHeaders Optional[[]string] `json:"caller_id_headers,omitzero"`
	// Numbers that may be shown over it.
	CallerIDs Optional[[]string] `json:"caller_ids,omitzero"`
	// 50 unless said. Calls wait for their turn.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
	// PCMU, PCMA, G722, opus, in the order of preference.
	Codecs Optional[[]string] `json:"codecs,omitzero"`
	// Among trunks of one priority: cheaper first. They also count for daily_spend_cap. Takes an operator key.
	Costs Optional[[]NewRate] `json:"costs,omitzero"`
	// The way of key presses; auto: as events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf Optional[string] `json:"dtmf,omitzero"`
	// The host of From; empty: our own.
	FromDomain Optional[string] `json:"from_domain,omitzero"`
	// From where its calls may come.
	Inbound Optional[TrunkInboundUpdate] `json:"inbound,omitzero"`
	// 0: no limit of its own.
	MaxChannels Optional[int64] `json:"max_channels,omitzero"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks Optional[[]string] `json:"media_networks,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Then put before it. Takes an operator key. What is dialled must read as the same number.
	NumberAdd Optional[string] `json:"number_add,omitzero"`
	// ISO 3166. Of national, and of numbers that come in without a country code.
	NumberCountry Optional[string] `json:"number_country,omitzero"`
	// +12025550100, 12025550100, or as it is dialled within number_country. One of e164, digits, national.
	NumberFormat Optional[string] `json:"number_format,omitzero"`
	// Taken off the beginning of the number called, once it is written. Takes an operator key.
	NumberStrip Optional[string] `json:"number_strip,omitzero"`
	// Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed.
	OptionsPing Optional[bool] `json:"options_ping,omitzero"`
	// What goes to the proxies is sent by way of it.
	OutboundProxy Optional[ProxyUpdate] `json:"outbound_proxy,omitzero"`
	// Numbers that it takes; empty: all. The trunk with the longest one is taken.
	Prefixes Optional[[]string] `json:"prefixes,omitzero"`
	// Among trunks of one prefix length: lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Its targets, 20 at most.
	Proxies []NewProxy `json:"proxies,omitzero"`
	// Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed.
	RedirectHosts Optional[[]string] `json:"redirect_hosts,omitzero"`
	// Registers at the first proxy with the credentials of auth.
	Register Optional[bool] `json:"register,omitzero"`
	// How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports. One of off, plain, imdn.
	SMS Optional[string] `json:"sms,omitzero"`
	// Keys go in the SDP: without transport tls, optional counts as off. One of off, optional, required.
	Srtp Optional[string] `json:"srtp,omitzero"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear Optional[bool] `json:"srtp_keys_in_clear,omitzero"`
}
