package dashboard

func numbersPage(r *Request) (view, error) {
	numbers, err := r.list("/v1/phone-numbers", "/numbers")
	if err != nil {
		return view{}, err
	}
	trunks, err := r.pageOf("trunks", "/v1/trunks", "/numbers")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	phones, err := r.pageOf("phones", "/v1/phones", "/numbers")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "numbers", title: "Numbers and trunks", data: object{"numbers": numbers, "trunks": trunks, "phones": phones}}, nil
}
