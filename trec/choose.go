package trec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sets are names for several measures. The first three are trec_eval's; of
// all_trec it has some more, which Choose names.
var sets = map[string][]string{
	"official": {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"},
	"set":      {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"},
	"all_trec": {"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P", "relstring", "recall",
		"infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "ndcg", "ndcg_cut", "map_cut", "relative_P", "success",
		"set_P", "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"},
	"rag": {"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank", "P.5,10", "recall.5,10,100", "ndcg", "ndcg_cut.5,10", "map_cut.10", "success.1,5,10",
		"recip_rank_cut.10", "F1.5,10", "judged.10"},
}

// setNames are the names of sets, in the order of a message.
var setNames = []string{"official", "set", "all_trec", "rag"}

// notHere are measures of trec_eval that are not known here, but stand in one
// of its sets.
var notHere = []string{"G", "ndcg_rel", "Rndcg"}

// maxCut bounds a cut-off.
const maxCut = 1_000_000

// Choose returns the measures of the names, in trec_eval's order and each once.
// A name is a set (official, set, all_trec, rag), a measure in trec_eval's
// spelling with its cut-offs ("P", "P.5,10", "ndcg_cut.10"), one figure ("P_5",
// "iprec_at_recall_0.50"), or one of ragjudge's metrics ("precision@5", "mrr").
// A name may hold several, parted by commas: "P.5,10,map". missing names the
// measures of a set that trec_eval has and Choose does not.
func Choose(names ...string) (list []Measure, missing []string, err error) {
	var errs []error
	chosen := map[string]Measure{}
	for _, name := range parted(names) {
		members, isSet := sets[name]
		if !isSet {
			members = []string{name}
		}
		if name == "all_trec" {
			missing = notHere
		}
		for _, member := range members {
			found, err := choose(member)
			if err != nil {
				errs = append(errs, err)
			}
			for _, m := range found {
				chosen[m.Name] = m
			}
		}
	}
	for i := range definitions {
		var same []Measure
		for _, m := range chosen {
			if m.def == &definitions[i] {
				same = append(same, m)
			}
		}
		slices.SortFunc(same, func(a, b Measure) int {
			if a.param < b.param {
				return -1
			}
			return 1
		})
		list = append(list, same...)
	}
	return list, missing, errors.Join(errs...)
}

// parted takes lists apart. What is a number belongs to the name before it.
func parted(names []string) []string {
	var out []string
	for _, list := range names {
		open := false
		for _, name := range strings.Split(list, ",") {
			name = strings.TrimSpace(name)
			if _, err := strconv.ParseFloat(name, 64); err == nil && open {
				out[len(out)-1] += "," + name
				continue
			}
			out, open = append(out, name), true
		}
	}
	return out
}

// choose returns the measures of one name.
func choose(name string) ([]Measure, error) {
	if d := find(name); d != nil {
		if d.params == nil {
			return []Measure{d.at(0)}, nil
		}
		var list []Measure
		for _, x := range d.params {
			list = append(list, d.at(x))
		}
		return list, nil
	}
	if m, ok := byMetric(name); ok {
		return []Measure{m}, nil
	}
	root, params, ok := strings.Cut(name, ".")
	d := find(root)
	if !ok || d == nil {
		if i := strings.LastIndexByte(name, '_'); i > 0 {
			root, params = name[:i], name[i+1:]
			if d = find(root); d != nil && d.params == nil {
				d = nil // "ndcg_rel" is not "ndcg" with a parameter
			}
		}
	}
	switch {
	case d == nil:
		return nil, unknown(name)
	case d.params == nil:
		return nil, fmt.Errorf("find measure %q: %s takes no parameters", name, d.name)
	}
	var list []Measure
	for p := range strings.SplitSeq(params, ",") {
		x, err := d.parse(p)
		if err != nil {
			return nil, fmt.Errorf("find measure %q: %w", name, err)
		}
		list = append(list, d.at(x))
	}
	return list, nil
}

func unknown(name string) error {
	if slices.Contains(notHere, name) {
		return fmt.Errorf("find measure %q: trec_eval has it, ragjudge does not", name)
	}
	var known []string
	for _, d := range definitions {
		known = append(known, d.name)
	}
	return fmt.Errorf("find measure %q: there is no such measure; known are the sets %s and the measures %s", name, strings.Join(setNames, ", "), strings.Join(known, ", "))
}

func (d *definition) parse(s string) (float64, error) {
	if d.shares {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0 && x <= 100) || d.name == "iprec_at_recall" && x > 1 {
			return 0, fmt.Errorf("%q is not a share, such as 0.5", s)
		}
		return x, nil
	}
	k, err := strconv.Atoi(s)
	if err != nil || k < 1 || k > maxCut {
		return 0, fmt.Errorf("the cut-off %q must be a whole number from 1 to %d", s, maxCut)
	}
	return float64(k), nil
}

// byMetric finds the measure of a metric: "precision@5", "mrr".
func byMetric(name string) (Measure, bool) {
	family, cut, hasCut := strings.Cut(name, "@")
	if hasCut {
		family += "@k"
	}
	for i := range definitions {
		d := &definitions[i]
		if d.metric != family || d.metric == "" {
			continue
		}
		if !hasCut {
			return d.at(0), true
		}
		if k, err := d.parse(cut); err == nil {
			return d.at(k), true
		}
	}
	return Measure{}, false
}
