# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# bench-alltoall.awk - part of tools/bench-alltoall: tables of what it has measured
#
# What wasn't measured is "-". Lines are one of
#	latency RANKS BYTES LAYOUT PACKING MICROSECONDS
#	auto RANKS BYTES LAYOUT PACKING MICROSECONDS
#	memory RANKS BYTES LAYOUT PACKING COPY LISTS PROVIDER, in nanoseconds

BEGIN {
	split("A B C D E", layouts)
	split("cpu sg selective", packings)
}

# Numbers of ranks and sizes as they come
!(($2, $3) in seen) {
	seen[$2, $3] = 1
	ranks[++nr_cases] = $2
	bytes[nr_cases] = $3
}

$1 == "latency" { latency[$2, $3, $4, $5] = $6 }
$1 == "auto" { auto[$2, $3] = $6; chosen[$2, $3] = $4 }
$1 == "memory" {
	copy[$2, $3, $4, $5] = $6
	lists[$2, $3, $4, $5] = $7
	provider[$2, $3, $4, $5] = $8
	handled[$2, $3] = 1
}

function rule(widths, nr,    i, j, line) {
	for (i = 1; i <= nr; i++) {
		line = line (i > 1 ? "  " : "")
		for (j = 0; j < widths[i]; j++)
			line = line "="
	}
	print line
}

# Columns are separated by spaces.
function begin(title, heads,    nr, i) {
	print "\n" title
	gsub(/./, "=", title)
	print title "\n"
	nr = split(heads, head)
	for (i = 1; i <= nr; i++)
		width[i] = length(head[i]) > 8 ? length(head[i]) : 8
	columns = nr
	rule(width, nr)
	row(heads)
	rule(width, nr)
}

function row(cells,    cell, i, line) {
	split(cells, cell)
	for (i = 1; i <= columns; i++)
		line = line sprintf("%s%*s", i > 1 ? "  " : "", width[i], cell[i])
	print line
}

function end() {
	rule(width, columns)
}

# How long case @i takes so; 0 if that isn't known
function time(i, layout, packing) {
	if ((ranks[i], bytes[i], layout, packing) in latency)
		return latency[ranks[i], bytes[i], layout, packing]
	return 0
}

function cell(format, value) {
	return " " (value ? sprintf(format, value) : "-")
}

function ratio(value, to) {
	return cell("%.2f", to ? value / to : 0)
}

function table_latency(    l, p, i, cells) {
	for (p = 1; p in packings; p++) {
		begin("Latency with " packings[p] ", us",
		      "ranks bytes A B C D E" (packings[p] == "selective" ? " pairwise auto" : ""))
		for (i = 1; i <= nr_cases; i++) {
			cells = ranks[i] " " bytes[i]
			for (l = 1; l in layouts; l++)
				cells = cells cell("%.1f", time(i, layouts[l], packings[p]))
			if (packings[p] == "selective")
				cells = cells cell("%.1f", time(i, "pairwise", "selective")) \
					cell("%.1f", auto[ranks[i], bytes[i]])
			row(cells)
		}
		end()
	}
}

function table_lists(    l, i, cells) {
	begin("Latency with sg, by that with cpu", "ranks bytes A B C D E")
	for (i = 1; i <= nr_cases; i++) {
		cells = ranks[i] " " bytes[i]
		for (l = 1; l in layouts; l++)
			cells = cells ratio(time(i, layouts[l], "sg"), time(i, layouts[l], "cpu"))
		row(cells)
	}
	end()
}

function smaller(a, b) {
	return a < b ? a : b
}

# The shortest of all, and its name in "best_way"
function best(i,    l, p, least, this) {
	least = time(i, "pairwise", "selective")
	best_way = "pairwise"
	for (l = 1; l in layouts; l++)
		for (p = 1; p in packings; p++) {
			this = time(i, layouts[l], packings[p])
			if (this && this < least) {
				least = this
				best_way = layouts[l] "/" packings[p]
			}
		}
	return least
}

function table_choices(    l, i, cells, least) {
	begin("Latency with selective, by the better of cpu and sg; and auto, by the best of all",
	      "ranks bytes A B C D E auto auto/best best")
	for (i = 1; i <= nr_cases; i++) {
		cells = ranks[i] " " bytes[i]
		for (l = 1; l in layouts; l++)
			cells = cells ratio(time(i, layouts[l], "selective"),
					    smaller(time(i, layouts[l], "cpu"),
						    time(i, layouts[l], "sg")))
		least = best(i)
		row(cells cell("%s", chosen[ranks[i], bytes[i]]) \
		    ratio(auto[ranks[i], bytes[i]], least) " " best_way)
	}
	end()
}

function table_memory(what, part,    l, p, i, cells) {
	begin(what, "ranks bytes A/cpu A/sg B/cpu B/sg C/cpu C/sg D/cpu D/sg E/cpu E/sg pairwise")
	for (i = 1; i <= nr_cases; i++) {
		if (!((ranks[i], bytes[i]) in handled))
			continue
		cells = ranks[i] " " bytes[i]
		for (l = 1; l in layouts; l++)
			for (p = 1; p <= 2; p++)
				cells = cells cell("%.1f", part[ranks[i], bytes[i], layouts[l],
								packings[p]] / 1000)
		row(cells cell("%.1f", part[ranks[i], bytes[i], "pairwise", "selective"] / 1000))
	}
	end()
}

END {
	for (key in copy)
		all[key] = copy[key] + lists[key] + provider[key]
	table_latency()
	table_lists()
	table_choices()
	table_memory("Memory handling, us: COPY, lists and the provider's copying", all)
	table_memory("Of that COPY", copy)
	table_memory("Of that the making of lists", lists)
	table_memory("Of that what the provider copies", provider)
}
