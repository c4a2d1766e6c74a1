package message

// phrases are the reason phrases of the responses that Callboard sends.
var phrases = map[int]string{
	100: "Trying",
	181: "Call Is Being Forwarded",
	180: "Ringing",
	183: "Session Progress",
	200: "OK",
	202: "Accepted",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	406: "Not Acceptable",
	408: "Request Timeout",
	415: "Unsupported Media Type",
	416: "Unsupported URI Scheme",
	420: "Bad Extension",
	422: "Session Interval Too Small",
	423: "Interval Too Brief",
	480: "Temporarily Unavailable",
	481: "Call/Transaction Does Not Exist",
	482: "Loop Detected",
	483: "Too Many Hops",
	486: "Busy Here",
	487: "Request Terminated",
	488: "Not Acceptable Here",
	489: "Bad Event",
	491: "Request Pending",
	500: "Server Internal Error",
	501: "Not Implemented",
	503: "Service Unavailable",
	504: "Server Time-out",
	505: "Version Not Supported",
	600: "Busy Everywhere",
	603: "Decline",
}

// ReasonPhrase returns the reason phrase of a status code.
func ReasonPhrase(code int) string {
	if p, ok := phrases[code]; ok {
		return p
	}
	return "Answer"
}
