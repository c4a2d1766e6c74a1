package dashboard

import (
	"net/url"
	"slices"
	"time"
)

func messagesPage(r *Request) (view, error) {
	if far := r.Query.Get("with"); far != "" {
		return messageThread(r, far)
	}
	l, err := r.list("/v1/sms", "/messages", "status", "direction", "to", "from", "conversation_id")
	return view{name: "messages", title: "Messages", data: object{"list": l, "query": r.Query}}, err
}

// messageThread is what was written to and by one number, the oldest first: the last
// hundred messages of each side, as far back as both are known.
func messageThread(r *Request, far string) (view, error) {
	var all []object
	var since time.Time
	for _, side := range []string{"from", "to"} {
		l, err := r.first("/v1/sms?" + side + "=" + url.QueryEscape(far))
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
	return view{name: "thread", title: "Messages with " + far, data: object{"messages": all, "more": !since.IsZero()}}, nil
}

// createdAt is when a resource was made.
func createdAt(o object) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text(o, "created_at"))
	return t
}
