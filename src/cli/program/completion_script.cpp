// One script per shell over the same tables: what each command offers, and what its options and
// positionals take. bash and zsh walk the words with functions of their own; fish is told one line
// per option and walks them itself.
//
// bash splits words at COMP_WORDBREAKS, so "--type=f32" and "exec:agent" come as three words. Files
// are left to the shells, which know how names are quoted.
#include "cli/program/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "cli/kit/program_info.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

/// What can stand behind a command ("": the program itself).
struct ShellPlace {
  std::string command;
  std::vector<std::pair<std::string, std::string>> commands;  ///< below it: name, description
  std::vector<OptionInfo> options;                            ///< with --help
  bool takes_words = false;
};

std::vector<ShellPlace> shell_places(const CLI::App& app) {
  ProgramInfo program = describe_program(app);
  std::vector<ShellPlace> places = {
      {.command = "", .commands = {}, .options = std::move(program.root.options)}};
  for (CommandInfo& command : program.commands) {
    const std::size_t space = command.name.rfind(' ');
    const std::string parent = space == std::string::npos ? "" : command.name.substr(0, space);
    const std::string last = command.name.substr(space == std::string::npos ? 0 : space + 1);
    std::ranges::find(places, parent, &ShellPlace::command)
        ->commands.emplace_back(last, command.description);
    command.options.push_back(program.help);
    places.push_back({.command = command.name,
                      .commands = {},
                      .options = std::move(command.options),
                      .takes_words = command.takes_words});
  }
  return places;
}

std::string with_replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// One word of a POSIX shell.
std::string shell_quoted(const std::string& text) {
  return "'" + with_replaced(text, "'", "'\\''") + "'";
}

std::string shell_quoted_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : " ") + shell_quoted(text);
  return out;
}

/// One word of fish, which also knows \\ and \' between quotes.
std::string fish_quoted(const std::string& text) {
  return "'" + with_replaced(with_replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

/// The names with dashes.
std::vector<std::string> dashed_names(const OptionInfo& option) {
  std::vector<std::string> names = option.names;
  if (option.positional) names.erase(names.begin());
  return names;
}

/// `takes=...` for the tables of bash and zsh.
std::string takes_of(const OptionInfo& option) {
  if (!option.choices.empty())
    return fmt::format("takes=choice choices=({})", shell_quoted_list(option.choices));
  return option.number ? "takes=number" : "takes=file";
}

/// The arms of a `case` over "COMMAND:OPTION", or "COMMAND:N" for its positional of that number.
std::string value_arms(const ShellPlace& place) {
  std::string arms;
  const std::string key = place.command + ":";
  int position = 0;
  for (const OptionInfo& option : place.options) {
    if (option.flag) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : dashed_names(option))
      patterns.push_back(shell_quoted(key + name));
    if (option.positional)
      patterns.push_back(option.many ? shell_quoted(key) + "[0-9]*"
                                     : shell_quoted(key + std::to_string(position++)));
    arms += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), takes_of(option));
  }
  return arms;
}

/// bash and zsh: the functions that hold the tables. `with_text` makes an entry of a name and its
/// description.
template <class WithText>
std::string shell_tables(const std::vector<ShellPlace>& places, WithText with_text) {
  std::string offers, values;
  for (const ShellPlace& place : places) {
    std::vector<std::string> commands, options;
    for (const auto& [name, text] : place.commands) commands.push_back(with_text(name, text));
    for (const OptionInfo& option : place.options)
      for (const std::string& name : dashed_names(option))
        options.push_back(with_text(name, option.description));
    offers += fmt::format("    {}) below=({}) offered=({}) behind={} ;;\n",
                          shell_quoted(place.command), shell_quoted_list(commands),
                          shell_quoted_list(options), place.takes_words ? "1" : "");
    values += value_arms(place);
  }
  return fmt::format(
      "# What can stand behind a command: commands below it, options, words behind \"--\".\n"
      "_rocm_perf_offers() {{\n  case $1 in\n{}  esac\n}}\n\n"
      "# What an option of a command takes, or its positional of that number; nothing for flags.\n"
      "_rocm_perf_takes() {{\n  takes= choices=()\n  case $1:$2 in\n{}  esac\n}}\n\n",
      offers, values);
}

constexpr const char* kBashWalk = R"(_rocm_perf() {
  local cur=${COMP_WORDS[COMP_CWORD]} command= option= takes= behind= prefix= word known
  local -a below=() offered=() choices=()
  local -i i at=0
  COMPREPLY=()
  _rocm_perf_offers ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      if [[ -z $behind ]]; then
        compopt +o default +o bashdefault 2>/dev/null
      elif ((i + 1 == COMP_CWORD)) && [[ $cur != */* ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      fi
      return 0
    elif [[ $word == [=:] ]]; then
      # Words are split here: behind an option comes its value, else the rest of a value.
      [[ $word == = && -n $option ]] || ((++i < COMP_CWORD)) || return 0
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -?* ]]; then
      _rocm_perf_takes "$command" "$word"
      [[ -z $takes ]] || option=$word
    else
      for known in "${below[@]}"; do
        [[ $known == "$word" ]] || continue
        command+=${command:+ }$word
        _rocm_perf_offers "$command"
        continue 2
      done
      at+=1
    fi
  done
  if [[ -z $option && $cur == --*=* ]]; then
    option=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}
  elif [[ -n $option && $cur == = ]]; then
    cur=
  elif [[ $cur == [=:] ]]; then
    return 0
  fi
  if [[ -n $option ]]; then
    _rocm_perf_takes "$command" "$option"
  elif [[ $cur == -* ]]; then
    takes=choice choices=("${offered[@]}")
  elif ((${#below[@]})); then
    takes=choice choices=("${below[@]}")
  else
    _rocm_perf_takes "$command" "$at"
  fi
  if [[ $takes == file ]]; then
    # readline completes files itself when there is no reply, and quotes their names.
    [[ -z $prefix ]] || mapfile -t COMPREPLY < <(compgen -P "$prefix" -f -- "$cur")
    return 0
  fi
  for word in "${choices[@]}"; do
    [[ $word == "$cur"* ]] || continue
    printf -v word %q "$word"
    COMPREPLY+=("$prefix$word")
  done
  ((${#COMPREPLY[@]})) || compopt +o default +o bashdefault 2>/dev/null
  return 0
}

)";

std::string bash_script(const std::vector<ShellPlace>& places, const std::string& program) {
  return shell_tables(places, [](const std::string& name, const std::string&) { return name; }) +
         kBashWalk +
         fmt::format("complete -o bashdefault -o default -F _rocm_perf {0} {0}-lab\n", program);
}

constexpr const char* kZshWalk = R"(_rocm-perf() {
  local command= option= takes= behind= word known
  local -a below offered choices
  integer i at=0
  _rocm_perf_offers ''
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ $word == -- ]]; then
      [[ -n $behind ]] || return 1
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -?* ]]; then
      _rocm_perf_takes "$command" "$word"
      [[ -z $takes ]] || option=$word
    else
      for known in "${below[@]}"; do
        [[ ${known%%:*} == "$word" ]] || continue
        command+=${command:+ }$word
        _rocm_perf_offers "$command"
        continue 2
      done
      ((at += 1))
    fi
  done
  word=$words[CURRENT]
  if [[ -z $option && $word == --*=* ]]; then
    option=${word%%=*}
    compset -P 1 '*='
  fi
  if [[ -n $option ]]; then
    _rocm_perf_takes "$command" "$option"
  elif [[ $word == -* ]]; then
    _describe -o option offered
    return
  elif ((${#below})); then
    _describe command below
    return
  else
    _rocm_perf_takes "$command" "$at"
  fi
  case $takes in
    file) _files ;;
    choice) compadd -- "${choices[@]}" ;;
    number) _message number ;;
    *) return 1 ;;
  esac
}

# A file of fpath is called as the function; one that is sourced only registers it.
if [[ $funcstack[1] == _rocm-perf ]]; then
  _rocm-perf "$@"
)";

/// "NAME:DESCRIPTION", as _describe reads it; the description on one line.
std::string zsh_entry(const std::string& name, const std::string& text) {
  return with_replaced(name, ":", "\\:") + ":" +
         with_replaced(with_replaced(text, "\\", "\\\\"), "\n", " ");
}

std::string zsh_script(const std::vector<ShellPlace>& places, const std::string& program) {
  return fmt::format("#compdef {0} {0}-lab\n", program) + shell_tables(places, zsh_entry) +
         kZshWalk + fmt::format("else\n  compdef _rocm-perf {0} {0}-lab\nfi\n", program);
}

constexpr const char* kFishWalk = R"(# The command in front of the cursor: "replay verify".
function __rocm_perf_command
    set -l command
    for word in (commandline -opc)[2..-1]
        test "$word" = --; and break
        string match -q -- '-*' $word; and continue
        set -a command $word
        contains -- "$command" $__rocm_perf_groups; or break
    end
    echo -- "$command"
end

# Whether the command is this one, and "--" does not stand in front of the cursor.
function __rocm_perf_at
    contains -- -- (commandline -opc); and return 1
    set -l command (__rocm_perf_command)
    test "$command" = "$argv"
end

function __rocm_perf_behind_dashes
    contains -- -- (commandline -opc); or return 1
    set -l command (__rocm_perf_command)
    contains -- "$command" $__rocm_perf_takes_words
end

# A program with its arguments, completed as one.
function __rocm_perf_words
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

)";

/// The line of an option, or of a positional.
std::string fish_option(const std::string& start, const OptionInfo& option) {
  std::string values = option.flag ? "" : option.number ? " -x" : " -r -F";
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices) choices += fish_quoted(choice) + " ";
    values = " -x -a " + fish_quoted(choices);
  }
  std::string names;
  for (const std::string& name : dashed_names(option))
    names += name.starts_with("--") ? " -l " + fish_quoted(name.substr(2))
                                    : " -s " + fish_quoted(name.substr(1));
  std::string lines;
  const std::string text = " -d " + fish_quoted(with_replaced(option.description, "\n", " "));
  if (!names.empty()) lines += start + names + values + text + "\n";
  if (option.positional && !option.choices.empty())
    lines += start + " -f" + values.substr(std::string_view(" -x").size()) + text + "\n";
  return lines;
}

std::string fish_script(const std::vector<ShellPlace>& places, const std::string& program) {
  std::vector<std::string> groups, takers;
  std::string lines;
  for (const ShellPlace& place : places) {
    const std::string start =
        fmt::format("complete -c {} -n {}", program,
                    fish_quoted("__rocm_perf_at " + fish_quoted(place.command)));
    if (!place.commands.empty() && !place.command.empty())
      groups.push_back(fish_quoted(place.command));
    if (place.takes_words) takers.push_back(fish_quoted(place.command));
    const bool files = std::ranges::any_of(place.options, [](const OptionInfo& option) {
      return option.positional && option.choices.empty() && !option.number;
    });
    if (!files) lines += start + " -f\n";
    for (const auto& [name, text] : place.commands)
      lines +=
          start + " -f -a " + fish_quoted(fish_quoted(name)) + " -d " + fish_quoted(text) + "\n";
    for (const OptionInfo& option : place.options) lines += fish_option(start, option);
  }
  return fmt::format("set -g __rocm_perf_groups {}\nset -g __rocm_perf_takes_words {}\n\n",
                     fmt::join(groups, " "), fmt::join(takers, " ")) +
         kFishWalk + lines +
         fmt::format(
             "complete -c {0} -n __rocm_perf_behind_dashes -f -a '(__rocm_perf_words)'\n"
             "complete -c {0}-lab -w {0}\n",
             program);
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  const std::vector<ShellPlace> places = shell_places(app);
  const std::string program = app.get_name();
  const std::string name = shell == Shell::bash ? "bash" : shell == Shell::zsh ? "zsh" : "fish";
  const std::string script = shell == Shell::bash  ? bash_script(places, program)
                             : shell == Shell::zsh ? zsh_script(places, program)
                                                   : fish_script(places, program);
  // zsh wants its own line first.
  const std::size_t head = shell == Shell::zsh ? script.find('\n') + 1 : 0;
  return script.substr(0, head) +
         fmt::format("# {0} completion of {1} {2}, written by `{1} completion {0}`.\n\n", name,
                     program, kProgramVersion) +
         script.substr(head);
}

}  // namespace perflab::cli
