package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

func messagesPage(r *Request) (view, error) {
	if remote := r.Query.Get("with"); remote != "" {
		return messageThread(r, remote)
	}
	l, err := r.list("/v1/sms", "/messages", "status", "direction", "to", "from", "conversation_id")
	return view{name: "messages", title: "Messages", data: object{"list": l, "query": r.Query}}, err
}

// messageThread shows the SMS messages to and from one number, oldest first. It reads the last hundred messages of
// each direction and omits the older time for which one direction may be incomplete.
func messageThread(r *Request, remote string) (view, error) {
	var all []object
	var since time.Time
	for _, side := range []string{"from", "to"} {
		l, err := r.first("/v1/sms?" + side + "=" + url.QueryEscape(remote))
		if err != nil {
			return view{}, err
		}
		if l.More {
			if last := createdAt(l.Data[len(l.Data)-1]); last.After(since) {
				since = last
			}
		}
		all = append(all, l.Data...)
	}
	all = slices.DeleteFunc(all, func(m object) bool { return createdAt(m).Before(since) })
	slices.SortStableFunc(all, func(a, b object) int { return createdAt(a).Compare(createdAt(b)) })
	return view{name: "thread", title: "Messages with " + remote, data: object{"messages": all, "more": !since.IsZero(), "remote": remote, "own": ownNumber(all)}}, nil
}

// createdAt returns the creation time of a resource.
func createdAt(o object) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text(o, "created_at"))
	return t
}

// ownNumber returns the number of the workspace in the newest message of a conversation.
func ownNumber(messages []object) string {
	for _, m := range slices.Backward(messages) {
		if text(m, "direction") == "inbound" {
			return text(m, "to")
		}
		return text(m, "from")
	}
	return ""
}

// sendMessage sends a text message and shows the conversation.
func sendMessage(r *Request) (view, error) {
	to := r.Form.Get("to")
	_, err := r.send(http.MethodPost, "/v1/sms", object{"to": to, "from": r.Form.Get("from"), "body": r.Form.Get("body")})
	return view{to: "/messages?with=" + url.QueryEscape(to) + "&done=sent"}, err
}
