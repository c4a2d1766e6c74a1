package dashboard

import "net/url"

func usagePage(r *Request) (view, error) {
	q := url.Values{}
	for _, name := range []string{"from", "to"} {
		if v := r.Query.Get(name); v != "" {
			q.Set(name, v)
		}
	}
	u, err := r.get("/v1/usage?" + q.Encode())
	if err != nil {
		return view{}, err
	}
	limits, err := r.get("/v1/usage/rate-limits")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "usage", title: "Usage and limits", data: object{"usage": u, "limits": limits}}, nil
}
